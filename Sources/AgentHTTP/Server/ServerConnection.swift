// SPDX-License-Identifier: MIT

internal import Glibc
internal import Synchronization

/// One connection of a server, from its acceptance until its socket is closed.
final class ServerConnection: Sendable {
    /// Who is at the other end.
    let peer: ServerPeer
    /// Whether the connection is under TLS.
    let isTLS: Bool
    private let core: ServerCore
    private let state: Mutex<State>

    /// Takes note of a connection, whose first request is due from now on.
    init(descriptor: Int32, peer: ServerPeer, isTLS: Bool, core: ServerCore) {
        self.peer = peer
        self.isTLS = isTLS
        self.core = core
        state = Mutex(State(descriptor: descriptor, deadline: .now + core.options.requestTimeout))
    }

    /// The moment at which the connection wants `tend` to be called.
    var due: ContinuousClock.Instant? { state.withLock { $0.due } }

    /// A request has begun; its deadline runs already.
    func begin(_ exchange: Exchange) {
        state.withLock { $0.exchange = exchange }
    }

    /// The request has come whole; the time of its handler is not the client's.
    func noteRequestComplete() {
        state.withLock { $0.deadline = nil }
    }

    /// An answer is about to be sent; a stream has no deadline, but its client must go on taking something.
    ///
    /// - Returns: Whether the connection ends with this answer.
    func noteReply(stream: StreamWriter?) -> Bool {
        let (due, isStopping) = state.withLock { state in
            state.stream = stream
            state.deadline = stream == nil ? .now + core.options.responseTimeout : nil
            state.streamDue = stream == nil ? nil : .now + core.streamInterval
            return (state.due, state.isStopping)
        }
        core.schedule(due)
        if isStopping { stream?.close() }
        return isStopping
    }

    /// The answer was sent, or the connection failed.
    func end(_ exchange: Exchange) {
        let due = state.withLock { state in
            guard state.exchange === exchange else { return state.due }
            state.exchange = nil
            state.stream = nil
            state.streamDue = nil
            state.deadline = .now + core.options.keepAliveTimeout
            if state.isStopping { state.shutDown() }
            return state.due
        }
        core.schedule(due)
    }

    /// Does what is due: ends the connection of a client that is too slow, and keeps streams alive.
    func tend(at now: ContinuousClock.Instant) {
        let stream = state.withLock { state -> StreamWriter? in
            if let deadline = state.deadline, deadline <= now {
                state.deadline = nil
                state.cutOff()
            }
            guard let due = state.streamDue, due <= now else { return nil }
            state.streamDue = now + core.streamInterval
            return state.stream
        }
        guard let stream else { return }
        // Outside of the lock: waking a stream takes locks of libmicrohttpd.
        let (next, stalled) = stream.keepAlive(interval: core.options.streamPing, at: now)
        state.withLock { state in
            guard state.stream === stream else { return }
            if stalled >= core.options.responseTimeout { state.cutOff() }
            if let next {
                state.streamDue = state.streamDue.map { min(next, $0) }
            } else if state.deadline == nil {
                // The stream is closed; what libmicrohttpd holds of it must be taken like any answer.
                state.deadline = now + core.options.responseTimeout
            }
        }
    }

    /// Ends what is idle at once, streams after what was written, and requests with their answer.
    func stop() {
        let stream = state.withLock { state in
            state.isStopping = true
            if state.exchange == nil { state.shutDown() }
            return state.stream
        }
        stream?.close()
    }

    /// Ends the connection whatever it does.
    func stopAtOnce() {
        let exchange = state.withLock { state in
            state.isStopping = true
            state.shutDown()
            return state.exchange
        }
        exchange?.abandon()
    }

    /// The socket is about to be closed and its descriptor may become another's.
    func close() {
        state.withLock { $0.descriptor = -1 }
    }

    /// What the lock protects.
    private struct State {
        var descriptor: Int32
        var deadline: ContinuousClock.Instant?
        var exchange: Exchange?
        var stream: StreamWriter?
        var streamDue: ContinuousClock.Instant?
        var isStopping = false

        var due: ContinuousClock.Instant? {
            [deadline, streamDue].compactMap { $0 }.min()
        }

        /// Ends the connection of a client that is too slow, without keeping for it what it has not taken.
        func cutOff() {
            guard descriptor >= 0 else { return }
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
            shutDown()
        }

        /// Makes libmicrohttpd's thread find the connection ended; only it may close the socket.
        func shutDown() {
            if descriptor >= 0 { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}
