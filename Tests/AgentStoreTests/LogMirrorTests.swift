// SPDX-License-Identifier: MIT

import AgentCore
import FoundationEssentials
import Glibc
import NexusGuard
import Testing

@testable import AgentStore

@Suite("the log on standard error")
struct LogMirrorTests {
    private let pipe: (reading: Int32, writing: Int32)

    init() throws {
        var ends: [Int32] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        pipe = (ends[0], ends[1])
    }

    private func text() -> String {
        close(pipe.writing)
        defer { close(pipe.reading) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(pipe.reading, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer.prefix(count)
        }
    }

    private func entry(_ level: LogLevel, _ message: String) -> LogEntry {
        LogEntry(
            id: 1, timestamp: Date(timeIntervalSince1970: 1_767_225_599.9), level: level, tag: "store",
            message: message)
    }

    @Test("for the journal a line begins with its priority as syslog numbers it (sd-daemon(3))")
    func journal() {
        let mirror = LogMirror(descriptor: pipe.writing, isJournal: true)
        for level in LogLevel.allCases { mirror.write(entry(level, "m")) }
        #expect(text() == "<7>store: m\n<6>store: m\n<4>store: m\n<3>store: m\n")
    }

    @Test("otherwise a line has the time in UTC and the level")
    func terminal() {
        let mirror = LogMirror(descriptor: pipe.writing, isJournal: false)
        mirror.write(entry(.warn, "a message"))
        #expect(text() == "2025-12-31T23:59:59Z [WARN] store: a message\n")
    }

    @Test("what is added to the log appears there, without control characters and in one line")
    func mirrors() {
        let log = LogStore(
            capacity: 10, minimumLevel: .info, mirror: LogMirror(descriptor: pipe.writing, isJournal: true))
        log.add(level: .debug, tag: "t", message: "dropped")
        log.add(level: .error, tag: "t", message: "one\n<0>forged\u{1B}")
        #expect(text() == "<3>t: one?<0>forged?\n")
    }

    @Test("the journal is recognised by device and inode, and not by the variable alone")
    func recognised() throws {
        var status = stat()
        try #require(fstat(pipe.writing, &status) == 0)
        let name = "\(status.st_dev):\(status.st_ino)"
        #expect(LogMirror.isJournal(pipe.writing, journalStream: name))
        #expect(!LogMirror.isJournal(STDERR_FILENO, journalStream: name))
        for wrong in [
            nil, "", ":", "1", "\(status.st_dev):", "x:y", "\(name):1",
            "\(status.st_dev):\(status.st_ino + 1)",
        ] {
            #expect(!LogMirror.isJournal(pipe.writing, journalStream: wrong))
        }
        #expect(!LogMirror.isJournal(-1, journalStream: name))
        close(pipe.writing)
        close(pipe.reading)
    }

    @Test("a reader that is stuck costs the agent little, and later learns how much was dropped")
    func stuck() throws {
        let mirror = LogMirror(descriptor: pipe.writing, isJournal: false)
        let long = String(repeating: "x", count: 1000)
        let started = ContinuousClock.now
        // Far more than a pipe takes.
        for _ in 0..<2000 { mirror.write(entry(.info, long)) }
        #expect(started.duration(to: .now) < .seconds(60))
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        let first = read(pipe.reading, &buffer, buffer.count)
        try #require(first > 0)
        mirror.write(entry(.info, "the last one"))
        let lines = text().split(separator: "\n").suffix(2).map(String.init)
        #expect(lines.last?.hasSuffix("store: the last one") == true)
        let dropped = try #require(lines.first?.split(separator: " ").dropFirst().first)
        let whole = buffer.prefix(first).count { $0 == UInt8(ascii: "\n") }
        #expect(Int(dropped) == 2000 - whole)
    }

    @Test("a reader that is gone does not end the agent with a signal")
    func gone() {
        close(pipe.reading)
        let mirror = LogMirror(descriptor: pipe.writing, isJournal: false)
        for _ in 0..<3 { mirror.write(entry(.info, "to nobody")) }
        #expect(close(pipe.writing) == 0)
    }
}
