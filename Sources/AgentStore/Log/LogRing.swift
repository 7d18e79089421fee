// SPDX-License-Identifier: MIT

internal import AgentCore

/// The newest entries of the log; a new one takes the place of the oldest when there is no room.
struct LogRing {
    private let capacity: Int
    private var entries: [LogEntry] = []
    /// Where the oldest entry is, once there is no more room.
    private var start = 0
    /// The number of the newest entry ever added; 0 before the first.
    private(set) var lastNumber: UInt64 = 0
    /// The entries up to this number were cleared and are no loss.
    private(set) var clearedNumber: UInt64 = 0

    /// Creates a ring without entries.
    init(capacity: Int) {
        self.capacity = max(capacity, 1)
    }

    /// The entries, oldest first.
    var all: [LogEntry] { Array(entries[start...] + entries[..<start]) }

    /// The number of the oldest entry; one above the newest when there are none.
    var firstNumber: UInt64 { lastNumber + 1 - UInt64(entries.count) }

    /// Adds an entry, which gets the next number.
    mutating func add(_ make: (UInt64) -> LogEntry) -> LogEntry {
        lastNumber += 1
        let entry = make(lastNumber)
        if entries.count < capacity {
            entries.append(entry)
        } else {
            entries[start] = entry
            start = (start + 1) % capacity
        }
        return entry
    }

    /// Forgets the entries.
    mutating func clear() {
        entries.removeAll()
        start = 0
        clearedNumber = lastNumber
    }

    /// Puts entries of an earlier run in front, and raises the numbers of those of this run above them.
    ///
    /// - Parameter earlierLast: The highest number that the earlier run gave.
    mutating func continueFrom(_ earlier: [LogEntry], last earlierLast: UInt64) {
        let own = all.map {
            LogEntry(
                id: $0.id + earlierLast, timestamp: $0.timestamp, level: $0.level, tag: $0.tag,
                message: $0.message)
        }
        // Numbers in memory have no gap; older entries in front of one stay in the file alone.
        var adjacent: [LogEntry] = []
        if own.isEmpty || own[0].id == earlierLast + 1 {
            for entry in earlier.reversed() {
                guard entry.id == earlierLast - UInt64(adjacent.count) else { break }
                adjacent.append(entry)
            }
        }
        entries = Array((adjacent.reversed() + own).suffix(capacity))
        start = 0
        lastNumber += earlierLast
        clearedNumber = clearedNumber == 0 ? 0 : clearedNumber + earlierLast
    }

    /// What a reader gets that wants the entry of a number or, where that is gone, a later one.
    ///
    /// The reader then wants the number behind what it got.
    func item(at wanted: inout UInt64) -> LogItem? {
        wanted = max(wanted, clearedNumber + 1)
        guard wanted <= lastNumber else { return nil }
        let first = firstNumber
        if wanted < first {
            defer { wanted = first }
            return .lost(first - wanted)
        }
        defer { wanted += 1 }
        return .entry(entries[(start + Int(wanted - first)) % entries.count])
    }
}
