// SPDX-License-Identifier: MIT

internal import AgentCore
internal import CSQLite
internal import FoundationEssentials

/// A failure of the log's file.
enum LogDatabaseError: Error, Hashable, CustomStringConvertible {
    /// The file is damaged, or is something else.
    case damaged
    /// A newer version of the agent wrote it.
    case newer(Int)
    /// The system failed, or the disk is full.
    case failed(code: Int32, errorNumber: Int32, text: String)

    /// A few words for the log.
    var description: String {
        switch self {
        case .damaged: "it is damaged"
        case .newer(let version): "it is of version \(version)"
        case .failed(_, 0, let text): text
        case .failed(_, let number, let text): "\(text), \(FileError(call: "error", number: number))"
        }
    }
}

/// The log in an SQLite file of bounded size; used by one thread at a time.
final class LogDatabase {
    /// The version of the tables.
    static let version = 1
    /// Room for the tables' own pages and for one batch of entries.
    static let leastByteLimit = 256 << 10
    private static let pageByteCount = 4096

    private let connection: SQLiteConnection
    private let pageLimit: Int

    /// Opens the file, which must exist, and makes its table where it has none.
    init(path: String, byteLimit: Int) throws(LogDatabaseError) {
        connection = try SQLiteConnection(path: path)
        pageLimit = max(byteLimit, Self.leastByteLimit) / Self.pageByteCount
        // Before anything is written: a file of a newer version is left as it is.
        let found = try connection.number("PRAGMA user_version")
        guard found <= Self.version else { throw .newer(found) }
        try connection.run("PRAGMA page_size = \(Self.pageByteCount)")
        try connection.run("PRAGMA journal_mode = WAL")
        // A power cut may cost the last entries and cannot damage the file.
        try connection.run("PRAGMA synchronous = NORMAL")
        try connection.run("PRAGMA wal_autocheckpoint = 128")
        try connection.run("PRAGMA journal_size_limit = \(512 << 10)")
        guard try connection.text("PRAGMA quick_check(1)") == "ok" else { throw .damaged }
        try connection.run(
            """
            CREATE TABLE IF NOT EXISTS entries (
                id INTEGER PRIMARY KEY AUTOINCREMENT, microseconds INTEGER NOT NULL, level TEXT NOT NULL,
                tag TEXT NOT NULL, message TEXT NOT NULL)
            """)
        try connection.run("PRAGMA user_version = \(Self.version)")
        try connection.run("PRAGMA max_page_count = \(pageLimit)")
    }

    /// The highest number that was ever stored; 0 before the first.
    func lastNumber() throws(LogDatabaseError) -> UInt64 {
        UInt64(max(0, try connection.number("SELECT seq FROM sqlite_sequence WHERE name = 'entries'")))
    }

    /// The newest entries, oldest first.
    func newest(_ limit: Int) throws(LogDatabaseError) -> [LogEntry] {
        let statement = try connection.prepare(
            "SELECT id, microseconds, level, tag, message FROM entries ORDER BY id DESC LIMIT ?")
        statement.bind(Int64(limit), at: 1)
        var entries: [LogEntry] = []
        while try statement.step() {
            guard let level = LogLevel(rawValue: statement.text(2)) else { continue }
            entries.append(
                LogEntry(
                    id: UInt64(max(0, statement.number(0))),
                    timestamp: Date(timeIntervalSince1970: Double(statement.number(1)) / 1_000_000),
                    level: level, tag: statement.text(3), message: statement.text(4)))
        }
        return entries.reversed()
    }

    /// Adds entries in one step, after the oldest have made room.
    func append(_ entries: [LogEntry]) throws(LogDatabaseError) {
        // One batch never needs more than half of the file.
        for batch in batches(of: entries) {
            try makeRoom(for: batch)
            try connection.transaction { () throws(LogDatabaseError) in
                let statement = try connection.prepare(
                    "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)")
                for entry in batch {
                    statement.bind(Int64(clamping: entry.id), at: 1)
                    statement.bind(
                        Int64((entry.timestamp.timeIntervalSince1970 * 1_000_000).rounded()), at: 2)
                    statement.bind(entry.level.rawValue, at: 3)
                    statement.bind(entry.tag, at: 4)
                    statement.bind(entry.message, at: 5)
                    while try statement.step() {}
                    statement.reset()
                }
            }
        }
    }

    /// Forgets the entries up to a number.
    func clear(through number: UInt64) throws(LogDatabaseError) {
        let statement = try connection.prepare("DELETE FROM entries WHERE id <= ?")
        statement.bind(Int64(clamping: number), at: 1)
        while try statement.step() {}
    }

    private func batches(of entries: [LogEntry]) -> [ArraySlice<LogEntry>] {
        var batches: [ArraySlice<LogEntry>] = []
        var start = 0
        var size = 0
        for (index, entry) in entries.enumerated() {
            size += Self.pageShare(of: entry)
            if size > pageLimit * Self.pageByteCount / 4 {
                batches.append(entries[start...index])
                start = index + 1
                size = 0
            }
        }
        if start < entries.count { batches.append(entries[start...]) }
        return batches
    }

    private func makeRoom(for batch: ArraySlice<LogEntry>) throws(LogDatabaseError) {
        let needed = batch.reduce(0) { $0 + Self.pageShare(of: $1) } / Self.pageByteCount + 4
        while true {
            let used = try connection.number("PRAGMA page_count") - connection.number("PRAGMA freelist_count")
            guard used + needed > pageLimit else { return }
            let before = try connection.number("SELECT count(*) FROM entries")
            guard before > 0 else { return }
            try connection.run(
                "DELETE FROM entries WHERE id IN (SELECT id FROM entries ORDER BY id LIMIT \(before / 8 + 1))"
            )
        }
    }

    /// About how many bytes of pages an entry takes; rather too many, since pages are not filled to their end.
    private static func pageShare(of entry: LogEntry) -> Int {
        (entry.message.utf8.count + entry.tag.utf8.count + 48) * 3 / 2
    }
}
