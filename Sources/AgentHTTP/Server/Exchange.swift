// SPDX-License-Identifier: MIT

internal import CMicroHTTPD
internal import Synchronization

/// One request and its answer.
///
/// The fields outside of the lock belong to the thread of libmicrohttpd alone, which is why threads may share it.
final class Exchange: @unchecked Sendable {
    let connection: ServerConnection
    /// The target as it stands in the request line.
    let target: String
    /// Whether the header was seen.
    var hasHeader = false
    var method = ""
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// The bytes of content that came, with those that were not kept.
    var receivedCount = 0
    /// The most bytes of content.
    var bodyLimit = 0
    /// The answer of the server itself to a request that no handler is to see.
    var refusal: ServerResponse?
    /// Whether the content is too much to be read for the sake of a refusal.
    var isHopeless = false

    private let state = Mutex(State.receiving)

    /// Where the exchange stands.
    private enum State {
        case receiving
        /// The handler works, and the connection is suspended.
        case handled(Suspension, task: Task<Void, Never>?)
        case answered(ServerReply, writer: StreamWriter?)
        /// The answer is being sent.
        case sending(writer: StreamWriter?)
        case abandoned
    }

    /// A connection of libmicrohttpd that waits to be resumed, which any thread may do once.
    struct Suspension: @unchecked Sendable {
        let pointer: OpaquePointer

        /// Suspends a connection; only within a callback of it.
        init(suspending pointer: OpaquePointer) {
            self.pointer = pointer
            MHD_suspend_connection(pointer)
        }

        func resume() {
            MHD_resume_connection(pointer)
        }
    }

    init(target: String, connection: ServerConnection) {
        self.target = target
        self.connection = connection
    }

    /// Suspends the connection and has the handler make an answer.
    ///
    /// - Returns: Whether the exchange goes on; it does not when the server is being stopped.
    func handle(_ request: ServerRequest, suspending pointer: OpaquePointer, by core: ServerCore) -> Bool {
        let isHandled = state.withLock { state in
            guard case .receiving = state else { return false }
            state = .handled(Suspension(suspending: pointer), task: nil)
            return true
        }
        guard isHandled else { return false }
        let task = Task { self.finish(await core.handler(request), by: core) }
        state.withLock { state in
            if case .handled(let suspension, nil) = state { state = .handled(suspension, task: task) }
        }
        return true
    }

    /// The answer, once, when there is one.
    func takeReply() -> (reply: ServerReply, writer: StreamWriter?)? {
        state.withLock { state in
            guard case .answered(let reply, let writer) = state else { return nil }
            state = .sending(writer: writer)
            return (reply, writer)
        }
    }

    /// Whether the exchange was given up.
    var isAbandoned: Bool {
        state.withLock {
            if case .abandoned = $0 { true } else { false }
        }
    }

    /// Gives the exchange up: the handler's answer is no longer wanted.
    func abandon() {
        let (task, writer) = state.withLock { state -> (Task<Void, Never>?, StreamWriter?) in
            defer { state = .abandoned }
            switch state {
            case .handled(let suspension, let task):
                suspension.resume()
                return (task, nil)
            case .answered(_, let writer), .sending(let writer): return (nil, writer)
            case .receiving, .abandoned: return (nil, nil)
            }
        }
        task?.cancel()
        writer?.abandon()
    }

    /// Takes the handler's answer and resumes the connection.
    private func finish(_ reply: ServerReply, by core: ServerCore) {
        var writer: StreamWriter?
        if case .stream(let stream) = reply, method != "HEAD" {
            let made = StreamWriter(stream, limit: core.options.streamBufferLimit)
            stream.attach(made)
            writer = made
        }
        let isWanted = state.withLock { state in
            guard case .handled(let suspension, _) = state else { return false }
            state = .answered(reply, writer: writer)
            suspension.resume()
            return true
        }
        if !isWanted { writer?.abandon() }
    }
}
