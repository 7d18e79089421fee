// SPDX-License-Identifier: MIT

import AgentCore
import FoundationEssentials
import Glibc
import NexusGuard
import Testing

@testable import AgentStore

@Suite("the log in a file")
struct LogPersistenceTests {
    let folder: TemporaryDirectory
    let state: StateDirectory

    init() throws {
        folder = try TemporaryDirectory()
        state = try StateDirectory(path: folder.path)
    }

    /// Starts a log with its file, lets `body` use it and ends it.
    private func withLog<Result>(
        byteLimit: Int = 8 << 20, _ body: (LogStore) throws -> Result
    ) throws -> Result {
        let log = LogStore()
        try log.startPersisting(in: state, byteLimit: byteLimit)
        defer { log.stopPersisting() }
        return try body(log)
    }

    private func fill(_ log: LogStore, _ count: Int, size: Int = 10) {
        let tail = String(repeating: "x", count: size)
        for number in 1...count { log.add(level: .info, tag: "test", message: "\(number) \(tail)") }
    }

    private func size(_ name: String) -> Int {
        var status = stat()
        return lstat(folder.path(name), &status) == 0 ? Int(status.st_size) : 0
    }

    @Test("entries are there after a restart, with their numbers, and new ones go on behind them")
    func restart() throws {
        let before = try withLog { log in
            log.add(level: .error, tag: "tag", message: "with \"quotes\" and ü")
            fill(log, 20)
            return log.getLogs()
        }
        try withLog { log in
            #expect(log.getLogs() == before.map { $0.rounded })
            log.add(level: .info, tag: "t", message: "next")
            #expect(log.lastNumber == 22)
        }
        #expect(folder.mode("log.sqlite") == 0o600)
    }

    @Test("entries of this run that came before the file was opened get numbers behind those in it")
    func earlyEntries() throws {
        try withLog { fill($0, 5) }
        let log = LogStore()
        fill(log, 3)
        try log.startPersisting(in: state)
        #expect(log.getLogs().map(\.id) == Array(1...8))
        log.stopPersisting()
        try withLog { #expect($0.getLogs().map(\.id) == Array(1...8)) }
    }

    @Test("the newest 2,000 come back, and a reader can go on where it was")
    func newest() async throws {
        for _ in 1...3 { try withLog { fill($0, 1000) } }
        let log = LogStore()
        try log.startPersisting(in: state)
        #expect(log.getLogs().map(\.id) == Array(1001...3000))
        var items: [LogItem] = []
        for await item in log.stream(after: 2998) {
            items.append(item)
            if items.count == 2 { break }
        }
        log.stopPersisting()
        #expect(
            items.compactMap { item -> UInt64? in
                guard case .entry(let entry) = item else { return nil }
                return entry.id
            } == [2999, 3000])
    }

    @Test("while the log runs, entries reach the file by themselves", .timeLimit(.minutes(20)))
    func byThemselves() async throws {
        let log = LogStore()
        try log.startPersisting(in: state)
        defer { log.stopPersisting() }
        log.add(level: .info, tag: "t", message: "soon there")
        let file = LogFile(place: try state.primary(), byteLimit: 1 << 20)
        while try file.open().newest(10).map(\.message) != ["soon there"] {
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test("the file stays below its limit and keeps the newest entries")
    func limit() throws {
        let limit = 512 << 10
        var last: UInt64 = 0
        for _ in 1...4 {
            try withLog(byteLimit: limit) { log in
                // About two megabytes.
                fill(log, 2000, size: 1000)
                last = log.lastNumber
            }
            #expect(size("log.sqlite") <= limit)
            #expect(size("log.sqlite-wal") <= 1 << 20)
        }
        try withLog(byteLimit: limit) { log in
            let entries = log.getLogs()
            #expect(entries.last?.id == last)
            #expect(entries.count > 150)
            #expect(entries.map(\.id) == Array((last - UInt64(entries.count) + 1)...last))
        }
    }

    @Test("a clearing empties the file as well, and numbers go on rising after a restart")
    func clear() throws {
        try withLog { log in
            fill(log, 10)
            log.clear()
            fill(log, 1)
        }
        try withLog { log in
            #expect(log.getLogs().map(\.id) == [11])
            log.clear()
        }
        try withLog { log in
            #expect(log.getLogs().isEmpty)
            fill(log, 1)
            #expect(log.getLogs().map(\.id) == [12])
        }
    }

    @Test(
        "a damaged file is renamed, said so, and a new one begun",
        arguments: ["garbage", "header", "page", "link"])
    func damaged(kind: String) throws {
        try withLog { fill($0, 500, size: 200) }
        var bytes = try #require(folder.read("log.sqlite"))
        switch kind {
        case "garbage": bytes = Array(repeating: 0x41, count: 5000)
        case "header": bytes[0] ^= 1
        case "page": for index in 4096..<8192 { bytes[index] = 0xFF }
        default: break
        }
        if kind == "link" {
            rename(folder.path("log.sqlite"), folder.path("elsewhere"))
            symlink(folder.path("elsewhere"), folder.path("log.sqlite"))
        } else {
            try folder.write("log.sqlite", bytes)
        }
        try withLog { log in
            #expect(log.getLogs().count == 1)
            #expect(log.getLogs().first?.message.contains("kept as log.sqlite.bad-1") == true)
        }
        if kind != "link" { #expect(folder.read("log.sqlite.bad-1") == bytes) }
        try withLog { log in
            #expect(log.getLogs().count == 1)
            fill(log, 1)
        }
        #expect(size("log.sqlite.bad-2") == 0)
    }

    @Test("damage that shows while the log runs costs the file and not the log")
    func damagedLater() throws {
        let limit = 4 << 20
        try withLog(byteLimit: limit) { log in
            func addMany() {
                // More than the pages that SQLite keeps in memory, and more than fits.
                for _ in 1...4 {
                    fill(log, 1000, size: 1000)
                    log.flush()
                }
            }
            addMany()
            try damage("log.sqlite")
            addMany()
            #expect(log.getLogs().count == 2000)
            let note = log.getLogs(after: nil, minimumLevel: .warn, limit: 10).first?.message
            #expect(note == nil || note?.contains("kept as log.sqlite.bad-1") == true)
        }
        #expect(folder.names.contains("log.sqlite.bad-1"))
        try withLog(byteLimit: limit) { log in
            #expect(log.getLogs().count == 2000)
            #expect(log.getLogs().last?.message.hasPrefix("1000 ") == true)
        }
    }

    /// Overwrites all but the first page, as a disk would.
    private func damage(_ name: String) throws {
        let file = open(folder.path(name), O_WRONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        let garbage = [UInt8](repeating: 0xAA, count: size(name) - 4096)
        try #require(garbage.count > 3 << 20)
        try #require(pwrite(file, garbage, garbage.count, 4096) == garbage.count)
    }

    @Test("a file of a newer version is refused and left as it is")
    func newer() throws {
        try withLog { fill($0, 1) }
        do {
            let connection = try SQLiteConnection(path: folder.path("log.sqlite"))
            try connection.run("PRAGMA user_version = 9")
        }
        let before = folder.read("log.sqlite")
        let error = #expect(throws: AgentError.self) { try withLog { fill($0, 1) } }
        #expect(error?.code == "store-unusable")
        #expect(error?.description.contains("version 9 and this agent reads up to 1") == true)
        #expect(folder.read("log.sqlite") == before)
        #expect(!folder.names.contains { $0.contains(".bad-") })
    }

    @Test("a log that is let go without an end writes its entries and ends its thread")
    func letGo() throws {
        for round in 1...20 {
            let log = LogStore()
            try log.startPersisting(in: state)
            log.add(level: .info, tag: "t", message: "round \(round)")
        }
        try withLog { #expect($0.getLogs().map(\.message) == (1...20).map { "round \($0)" }) }
    }

    @Test("stopping twice and starting again is allowed")
    func startAgain() throws {
        let log = LogStore()
        log.stopPersisting()
        for _ in 1...3 {
            try log.startPersisting(in: state)
            fill(log, 2)
        }
        log.stopPersisting()
        log.stopPersisting()
        fill(log, 1)
        try withLog { #expect($0.getLogs().count == 6) }
    }
}

extension LogEntry {
    /// The entry as the file holds it: with microseconds.
    fileprivate var rounded: LogEntry {
        let microseconds = (timestamp.timeIntervalSince1970 * 1_000_000).rounded()
        return LogEntry(
            id: id, timestamp: .init(timeIntervalSince1970: microseconds / 1_000_000), level: level, tag: tag,
            message: message)
    }
}
