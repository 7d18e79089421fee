// SPDX-License-Identifier: MIT

internal import AgentCore
internal import FoundationEssentials

/// A value that a statement is given.
enum SQLiteValue {
    /// A whole number.
    case integer(Int64)
    /// A text.
    case text(String)
    /// Bytes.
    case bytes([UInt8])
    /// Bytes that are secret; no copy is made outside the database.
    case secret(SecretBytes)
    /// No value.
    case null

    /// A text, or no value.
    static func text(_ text: String?) -> SQLiteValue { text.map { .text($0) } ?? .null }

    /// A time in milliseconds since 1970, or no value.
    static func time(_ date: Date?) -> SQLiteValue {
        guard let date else { return .null }
        // Dates come from clocks and checked requests, but a double can hold what an integer cannot.
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        return .integer(Int64(exactly: milliseconds) ?? 0)
    }

    /// 0 or 1, or no value.
    static func flag(_ flag: Bool?) -> SQLiteValue { flag.map { .integer($0 ? 1 : 0) } ?? .null }
}
