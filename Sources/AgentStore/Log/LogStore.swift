// SPDX-License-Identifier: MIT

public import AgentCore
internal import FoundationEssentials
internal import Synchronization

/// The log: the newest entries in memory, streams of them, and copies on standard error and in a file.
public final class LogStore: LogSink {
    /// How many entries are kept in memory unless the caller says otherwise.
    public static let defaultCapacity = 2_000

    let state: LogState
    private let threshold: Mutex<LogLevel>
    private let mirror: LogMirror?
    private let persister = Mutex<LogPersister?>(nil)

    /// Creates an empty log.
    ///
    /// - Parameters:
    ///   - capacity: How many entries are kept; the oldest are overwritten.
    ///   - minimumLevel: What is less important is dropped.
    ///   - mirrorsToStandardError: Whether each entry is written to standard error as well, in the form of
    ///     the journal where the journal reads it.
    public convenience init(
        capacity: Int = LogStore.defaultCapacity, minimumLevel: LogLevel = .debug,
        mirrorsToStandardError: Bool = false
    ) {
        self.init(
            capacity: capacity, minimumLevel: minimumLevel,
            mirror: mirrorsToStandardError ? LogMirror.standardError() : nil)
    }

    /// Creates an empty log with a mirror of the caller.
    init(capacity: Int, minimumLevel: LogLevel, mirror: LogMirror?) {
        state = LogState(capacity: capacity)
        threshold = Mutex(minimumLevel)
        self.mirror = mirror
    }

    /// The least important level that is kept; what is less important is dropped from now on.
    public var minimumLevel: LogLevel {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    /// Adds an entry; control characters are replaced and a message beyond 1,024 bytes is cut.
    public func add(level: LogLevel, tag: String, message: String) {
        guard level >= minimumLevel else { return }
        let tag = LogText.plain(tag, limit: LogText.longestTag)
        let message = LogText.plain(message, limit: LogText.longestMessage)
        let now = Date()
        let entry = state.add {
            LogEntry(id: $0, timestamp: now, level: level, tag: tag, message: message)
        }
        mirror?.write(entry)
        persister.withLock { $0 }?.noteNewEntries()
    }

    /// Forgets all entries, in the file as well; numbers go on rising.
    public func clear() {
        state.clear()
        persister.withLock { $0 }?.noteCleared()
    }

    /// The entries in memory, oldest first.
    public func getLogs() -> [LogEntry] { state.entries }

    /// The entries in memory after a number, at least this important, oldest first; the newest `limit`.
    public func getLogs(after number: UInt64?, minimumLevel: LogLevel, limit: Int) -> [LogEntry] {
        let wanted = state.entries.filter { $0.id > number ?? 0 && $0.level >= minimumLevel }
        return Array(wanted.suffix(max(limit, 0)))
    }

    /// The number of the newest entry ever added; 0 before the first.
    public var lastNumber: UInt64 { state.lastNumber }

    /// The entries from now on, or those after a number and then the new ones.
    ///
    /// A reader holds no buffer of its own. One that is slower than the log gets `LogItem.lost` in the
    /// place of what was overwritten. A number that has not been given yet is one of another run: all entries
    /// come then. The stream is for one reader and ends when its task is cancelled.
    public func stream(after number: UInt64? = nil) -> AsyncStream<LogItem> {
        let reader = LogReader(state: state, after: number)
        return AsyncStream {
            await reader.next()
        } onCancel: {
            reader.cancel()
        }
    }

    /// Keeps the log in `log.sqlite` of a directory as well, and takes over what is in it.
    ///
    /// A damaged file is renamed and a new one begun. Entries reach the file within about a second. While the
    /// file cannot be written the log goes on in memory alone. Numbers go on behind those in the file; entries
    /// that were added before this call get higher ones.
    ///
    /// - Parameters:
    ///   - directory: Where the file is.
    ///   - byteLimit: How large the file may become, at least 256 KiB; the oldest entries leave it. A log of
    ///     writes beside it takes up to 1 MiB more.
    /// - Throws: `AgentError.storeUnusable` for a file of a newer version; `AgentError.secretStore` when none
    ///   can be made.
    public func startPersisting(in directory: StateDirectory, byteLimit: Int = 8 << 20) throws(AgentError) {
        stopPersisting()
        // Not the log itself: its thread must never be the last to hold it.
        let started = try LogPersister(state: state, directory: directory, byteLimit: byteLimit) {
            [state, mirror] message in
            let now = Date()
            let entry = state.add {
                LogEntry(id: $0, timestamp: now, level: .warn, tag: "log", message: message)
            }
            mirror?.write(entry)
        }
        persister.withLock { $0 = started }
    }

    /// Writes what is not in the file yet, and ends keeping it there.
    public func stopPersisting() {
        let running = persister.withLock { persister in
            defer { persister = nil }
            return persister
        }
        running?.stop()
    }

    /// Writes what is not in the file yet, and goes on.
    func flush() {
        persister.withLock { $0 }?.bringToFile()
    }

    deinit {
        persister.withLock { $0 }?.stop()
    }
}
