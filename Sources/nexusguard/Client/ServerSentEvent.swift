// SPDX-License-Identifier: MIT

internal import Synchronization

/// One event of a stream of server-sent events.
struct ServerSentEvent: Equatable, Sendable {
    /// The identifier to go on after; `nil` when the event has none.
    var identifier: String?
    /// The kind.
    var name = "message"
    /// The content.
    var data: [UInt8] = []
}

/// Finds the events in the pieces of a stream, wherever the pieces are cut.
final class ServerSentEventParser: Sendable {
    private let state = Mutex(State())
    private let onEvent: @Sendable (ServerSentEvent) -> Void

    /// Creates a parser.
    init(onEvent: @escaping @Sendable (ServerSentEvent) -> Void) {
        self.onEvent = onEvent
    }

    /// Takes the next piece.
    func feed(_ bytes: [UInt8]) {
        let events = state.withLock { state in
            var events: [ServerSentEvent] = []
            for byte in bytes {
                guard byte == UInt8(ascii: "\n") else {
                    state.line.append(byte)
                    continue
                }
                if state.line.last == UInt8(ascii: "\r") { state.line.removeLast() }
                if let event = state.endLine() { events.append(event) }
            }
            return events
        }
        for event in events { onEvent(event) }
    }

    /// What the lock protects.
    private struct State {
        var line: [UInt8] = []
        var event = ServerSentEvent()
        var hasData = false

        /// Takes a whole line; an empty one ends the event.
        mutating func endLine() -> ServerSentEvent? {
            defer { line.removeAll(keepingCapacity: true) }
            guard !line.isEmpty else {
                defer {
                    event = ServerSentEvent()
                    hasData = false
                }
                return hasData ? event : nil
            }
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            var value = line.dropFirst(name.count + 1)
            if value.first == UInt8(ascii: " ") { value.removeFirst() }
            switch String(decoding: name, as: UTF8.self) {
            case "event": event.name = String(decoding: value, as: UTF8.self)
            case "id": event.identifier = String(decoding: value, as: UTF8.self)
            case "data":
                if hasData { event.data.append(UInt8(ascii: "\n")) }
                event.data += value
                hasData = true
            // A comment, or a field of a later version.
            default: break
            }
            return nil
        }
    }
}
