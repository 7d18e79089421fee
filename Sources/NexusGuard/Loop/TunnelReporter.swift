// SPDX-License-Identifier: MIT

internal import Glibc
internal import Synchronization

/// Gives what happens to the log handler and to the event streams.
final class TunnelReporter: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<TunnelEvent>.Continuation] = [:]
        var nextNumber = 0
        /// The threads that are inside the log handler now.
        var threadsInHandler: [pthread_t] = []
    }

    /// The most events that a stream keeps for a reader that does not come; the oldest go first.
    static let eventsKept = 256

    private let state = Mutex(State())
    private let logLevel: TunnelOptions.LogLevel
    private let logHandler: (@Sendable (TunnelOptions.LogLevel, String) -> Void)?

    /// Reports to the handler of the options.
    init(_ options: TunnelOptions) {
        logLevel = options.logLevel
        logHandler = options.logHandler
    }

    /// A new stream of the events from now on; it ends with the tunnel.
    func makeStream() -> AsyncStream<TunnelEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TunnelEvent.self, bufferingPolicy: .bufferingNewest(Self.eventsKept))
        let number = state.withLock { state in
            state.nextNumber += 1
            state.streams[state.nextNumber] = continuation
            return state.nextNumber
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.streams.removeValue(forKey: number) }
        }
        return stream
    }

    /// Tells an event.
    func report(_ event: TunnelEvent) {
        log(event.isError ? .error : .debug, event.description)
        for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(event) }
    }

    /// Ends all streams.
    func finish() {
        let streams = state.withLock { state in
            let streams = Array(state.streams.values)
            state.streams = [:]
            return streams
        }
        for stream in streams { stream.finish() }
    }

    /// Logs a line; the text is not made when nobody wants it.
    func log(_ level: TunnelOptions.LogLevel, _ text: @autoclosure () -> String) {
        guard let logHandler, level >= logLevel else { return }
        let thread = pthread_self()
        state.withLock { $0.threadsInHandler.append(thread) }
        logHandler(level, text())
        state.withLock { state in
            if let index = state.threadsInHandler.firstIndex(where: { pthread_equal($0, thread) != 0 }) {
                state.threadsInHandler.remove(at: index)
            }
        }
    }

    /// Whether the calling thread is inside the log handler.
    var isInHandler: Bool {
        let thread = pthread_self()
        return state.withLock { $0.threadsInHandler.contains { pthread_equal($0, thread) != 0 } }
    }
}
