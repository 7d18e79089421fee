// SPDX-License-Identifier: MIT

public import AgentCore

/// The log: the newest entries in memory, streams of them, and copies on standard error and in a file.
public final class LogStore: LogSink {
    /// How many entries are kept in memory unless the caller says otherwise.
    public static let defaultCapacity = 2_000

    /// Creates an empty log.
    ///
    /// - Parameters:
    ///   - capacity: How many entries are kept; the oldest are overwritten.
    ///   - minimumLevel: What is less important is dropped.
    ///   - mirrorsToStandardError: Whether each entry is written to standard error as well, in the form of
    ///     the journal where the journal reads it.
    public init(
        capacity: Int = LogStore.defaultCapacity, minimumLevel: LogLevel = .debug,
        mirrorsToStandardError: Bool = false
    ) {}

    /// Adds an entry; control characters are replaced and a message beyond 1,024 bytes is cut.
    public func add(level: LogLevel, tag: String, message: String) {}

    /// Forgets all entries; numbers go on rising.
    public func clear() {}

    /// The entries in memory, oldest first.
    public func getLogs() -> [LogEntry] { [] }

    /// The entries in memory after a number, at least this important, oldest first; the newest `limit`.
    public func getLogs(after number: UInt64?, minimumLevel: LogLevel, limit: Int) -> [LogEntry] { [] }

    /// The number of the newest entry ever added; 0 before the first.
    public var lastNumber: UInt64 { 0 }

    /// The entries from now on, or those after a number and then the new ones.
    ///
    /// A reader holds no buffer of its own. One that is slower than the log gets `LogItem.lost` in the
    /// place of what was overwritten. For one reader; ends when its task is cancelled.
    public func stream(after number: UInt64? = nil) -> AsyncStream<LogItem> { AsyncStream { $0.finish() } }

    /// Keeps the log in `log.sqlite` of a directory as well, and takes over what is in it.
    ///
    /// A damaged file is renamed and a new one begun. Entries reach the file within about a second.
    ///
    /// - Parameter byteLimit: How large the file may become; the oldest entries leave it.
    public func startPersisting(in directory: StateDirectory, byteLimit: Int = 8 << 20) throws(AgentError) {}

    /// Writes what is not in the file yet, and ends keeping it there.
    public func stopPersisting() {}
}
