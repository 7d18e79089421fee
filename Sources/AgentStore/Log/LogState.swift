// SPDX-License-Identifier: MIT

internal import AgentCore
internal import Synchronization

/// The entries in memory and the readers that wait for more.
final class LogState: Sendable {
    private struct Content {
        var ring: LogRing
        /// The continuations of readers that wait, by the numbers of the readers.
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastReader: UInt64 = 0
        /// Whether the numbers go on behind those of an earlier run.
        var isContinued = false
    }

    private let content: Mutex<Content>

    /// Creates a log without entries.
    init(capacity: Int) {
        content = Mutex(Content(ring: LogRing(capacity: capacity)))
    }

    /// The entries, oldest first.
    var entries: [LogEntry] { content.withLock { $0.ring.all } }

    /// The number of the newest entry ever added.
    var lastNumber: UInt64 { content.withLock { $0.ring.lastNumber } }

    /// The entries up to this number were cleared.
    var clearedNumber: UInt64 { content.withLock { $0.ring.clearedNumber } }

    /// Adds an entry and wakes the readers.
    func add(_ make: (UInt64) -> LogEntry) -> LogEntry {
        let (entry, waiting) = content.withLock { content in
            let entry = content.ring.add(make)
            defer { content.waiting.removeAll() }
            return (entry, Array(content.waiting.values))
        }
        for continuation in waiting { continuation.resume() }
        return entry
    }

    /// Forgets the entries.
    func clear() { content.withLock { $0.ring.clear() } }

    /// Puts the entries of an earlier run in front, the first time that it is called.
    ///
    /// - Parameters:
    ///   - earlier: The newest entries that the file holds.
    ///   - last: The highest number that was ever in the file.
    /// - Returns: The number of the first entry that is not in the file yet.
    func continueFrom(_ earlier: [LogEntry], last: UInt64) -> UInt64 {
        content.withLock { content in
            if !content.isContinued {
                content.ring.continueFrom(earlier, last: last)
                content.isContinued = true
            }
            return min(last, content.ring.lastNumber) + 1
        }
    }

    /// The entries from a number on, as far as they are in memory.
    func entries(from number: UInt64) -> [LogEntry] { entries.filter { $0.id >= number } }

    /// How many readers wait.
    var waitingCount: Int { content.withLock { $0.waiting.count } }

    // MARK: Readers

    /// A number for a new reader.
    func newReader() -> UInt64 {
        content.withLock { content in
            content.lastReader += 1
            return content.lastReader
        }
    }

    /// What comes next for a reader, if there is anything.
    func item(at wanted: inout UInt64) -> LogItem? {
        content.withLock { $0.ring.item(at: &wanted) }
    }

    /// Waits until there may be an entry of a number, or until the reader is woken.
    func wait(for wanted: UInt64, reader: UInt64, unless isCancelled: @Sendable () -> Bool) async {
        await withCheckedContinuation { continuation in
            let mustWait = content.withLock { content in
                // Looked at under the lock: who cancels takes the lock afterwards and finds the continuation.
                guard content.ring.lastNumber < wanted, !isCancelled() else { return false }
                content.waiting.updateValue(continuation, forKey: reader)?.resume()
                return true
            }
            if !mustWait { continuation.resume() }
        }
    }

    /// Wakes a reader that waits.
    func wake(_ reader: UInt64) {
        content.withLock { $0.waiting.removeValue(forKey: reader) }?.resume()
    }
}
