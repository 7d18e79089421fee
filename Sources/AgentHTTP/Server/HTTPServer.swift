// SPDX-License-Identifier: MIT

internal import Synchronization

/// An HTTP/1.1 server over libmicrohttpd.
///
/// It reads requests within the limits of its options, hands each to the handler as a task of its own, and
/// sends the answer; several listeners share the handler. Requests that are malformed, contradict themselves
/// about their length or are too large are answered by the server itself.
public final class HTTPServer: Sendable {
    private let listeners: [HTTPListener]
    private let options: HTTPServerOptions
    private let handler: @Sendable (ServerRequest) async -> ServerReply
    private let state = Mutex(State.new)
    private let boundPort = Mutex<UInt16?>(nil)

    /// Creates a server that does not listen yet.
    ///
    /// - Parameter handler: Makes the answer to a request. Its task is cancelled when the server stops before
    ///   it is done.
    public init(
        listeners: [HTTPListener], options: HTTPServerOptions = HTTPServerOptions(),
        handler: @escaping @Sendable (ServerRequest) async -> ServerReply
    ) {
        self.listeners = listeners
        self.options = options
        self.handler = handler
    }

    deinit {
        stop()
    }

    /// Binds every listener and begins to serve; all of them or none.
    public func start() throws(HTTPServerError) {
        try state.withLock { state throws(HTTPServerError) in
            guard case .new = state else { throw .alreadyStarted }
            guard let core = ServerCore(options: options, handler: handler) else {
                throw .failed("no descriptors left")
            }
            guard core.start() else { throw .failed("no threads left") }
            var daemons: [ServerDaemon] = []
            do throws(HTTPServerError) {
                for listener in listeners { daemons.append(try ServerDaemon(listener, core: core)) }
            } catch {
                Self.stop(daemons, of: core)
                throw error
            }
            boundPort.withLock { $0 = daemons.compactMap(\.socket.port).first }
            state = .running(core, daemons)
        }
    }

    /// Stops listening, ends event streams after what was written, waits for the answers to requests under way
    /// as long as the options say, and returns when every connection is closed.
    ///
    /// Blocks the calling thread. A call from within a handler waits for that handler's own request in vain and
    /// then ends it.
    public func stop() {
        state.withLock { state in
            if case .running(let core, let daemons) = state { Self.stop(daemons, of: core) }
            state = .stopped
        }
    }

    /// Does the same as `stop` on a thread of its own, so that no thread that runs tasks waits for it.
    public func stopAside() async {
        await withCheckedContinuation { continuation in
            let isStarted = WorkerThread.start(name: "http-stop") {
                self.stop()
                continuation.resume()
            }
            guard !isStarted else { return }
            stop()
            continuation.resume()
        }
    }

    /// The port of the first listener that has one, once the server has started.
    public var port: UInt16? { boundPort.withLock { $0 } }

    private static func stop(_ daemons: [ServerDaemon], of core: ServerCore) {
        for daemon in daemons { daemon.stopListening() }
        // A connection that is suspended when libmicrohttpd stops makes it abort the process: better a thread
        // that stays than that.
        if core.stop() {
            for daemon in daemons { daemon.stop() }
        } else {
            for daemon in daemons { _ = Unmanaged.passRetained(daemon) }
        }
        core.end()
    }

    private enum State {
        case new
        case running(ServerCore, [ServerDaemon])
        case stopped
    }
}
