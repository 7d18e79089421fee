// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// How important an entry of the log is.
public enum LogLevel: String, Codable, CaseIterable, Comparable, Hashable, Sendable {
    /// Detail for those who look for a fault.
    case debug = "DEBUG"
    /// What happens in normal operation.
    case info = "INFO"
    /// What may need attention.
    case warn = "WARN"
    /// What needs attention.
    case error = "ERROR"

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warn: 2
        case .error: 3
        }
    }

    /// Whether `left` is less important than `right`.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// One entry of the log.
public struct LogEntry: Identifiable, Codable, Hashable, Sendable {
    /// The number of the entry; each is one above the one before it, for the life of the agent.
    public let id: UInt64
    /// When it was added.
    public let timestamp: Date
    /// How important it is.
    public let level: LogLevel
    /// The part of the agent that it comes from, such as `heartbeat`.
    public let tag: String
    /// One line without secrets.
    public let message: String

    /// Creates an entry.
    public init(id: UInt64, timestamp: Date, level: LogLevel, tag: String, message: String) {
        self.id = id
        self.timestamp = timestamp
        self.level = level
        self.tag = tag
        self.message = message
    }
}

/// Takes entries of the log, on any thread.
public protocol LogSink: Sendable {
    /// Adds an entry. `message` is one line without secrets; device identifiers are masked by the caller.
    func add(level: LogLevel, tag: String, message: String)
}
