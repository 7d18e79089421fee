// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Synchronization

/// A stream of events that ends with the session that opened it.
final class PageStream: Sendable {
    private let state = Mutex<(writer: StreamWriter?, isClosed: Bool)>((nil, false))

    /// Takes the writer when there is one.
    func take(_ writer: StreamWriter) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.writer = writer }
            return state.isClosed
        }
        if isClosed { writer.close() }
    }

    /// Ends the stream after what was written, now or as soon as it begins.
    func close() {
        let writer = state.withLock { state in
            state.isClosed = true
            return state.writer.take()
        }
        writer?.close()
    }

    /// Lets go of the writer.
    func forget() {
        state.withLock { $0.writer = nil }
    }
}
