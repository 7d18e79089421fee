// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import NexusGuardAgent

/// An entry of the log as the daemon sends it.
struct ShownLogEntry: Equatable, Sendable {
    /// Its number.
    var number: Int
    /// When it was added.
    var timestamp: Date
    /// How important it is.
    var level: LogLevel
    /// The part of the agent that it comes from.
    var tag: String
    /// What happened.
    var message: String

    /// Reads an entry out of its object.
    init(_ fields: JSONFields) throws(AgentError) {
        number = try fields.required("id", fields.integer("id", in: 0...Int.max))
        let text = try fields.required("timestamp", fields.text("timestamp", limit: 64))
        guard let timestamp = RFC3339.date(text) else { throw fields.invalid("timestamp", "is no date") }
        self.timestamp = timestamp
        level = LogLevel(rawValue: try fields.text("level", limit: 16) ?? "") ?? .info
        tag = try fields.text("tag", limit: 256) ?? ""
        message = try fields.text("message", limit: 65_536) ?? ""
    }

    /// Creates an entry.
    init(number: Int, timestamp: Date, level: LogLevel, tag: String, message: String) {
        self.number = number
        self.timestamp = timestamp
        self.level = level
        self.tag = tag
        self.message = message
    }

    /// The form `HH:MM:SS [LEVEL] tag: message`, in local time, with the date before it where that is wanted.
    func line(style: Style, withDate: Bool = false) -> String {
        let date = withDate ? Wording.day(timestamp) + " " : ""
        let text = "\(date)\(Wording.timeOfDay(timestamp)) [\(level.rawValue)] \(tag): \(message)"
        switch level {
        case .debug: return style.paint(Wording.safe(text), .dim)
        case .info: return Wording.safe(text)
        case .warn: return style.paint(Wording.safe(text), .yellow)
        case .error: return style.paint(Wording.safe(text), .red)
        }
    }
}
