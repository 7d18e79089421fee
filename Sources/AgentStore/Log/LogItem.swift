// SPDX-License-Identifier: MIT

public import AgentCore

/// What a reader of the log gets.
public enum LogItem: Hashable, Sendable {
    /// An entry.
    case entry(LogEntry)
    /// This many entries were overwritten before the reader came to them.
    case lost(UInt64)
}
