// SPDX-License-Identifier: MIT

import AgentCore
import NexusGuard
import Synchronization
import Testing

@testable import AgentStore

@Suite("the log")
struct LogStoreTests {
    private func fill(_ log: LogStore, _ numbers: ClosedRange<Int>) {
        for number in numbers { log.add(level: .info, tag: "test", message: "message \(number)") }
    }

    @Test("it keeps the newest 2,000 entries, oldest first, with rising numbers")
    func ring() {
        let log = LogStore()
        #expect(log.getLogs().isEmpty)
        #expect(log.lastNumber == 0)
        fill(log, 1...2000)
        #expect(log.getLogs().map(\.id) == Array(1...2000))
        fill(log, 2001...5007)
        let entries = log.getLogs()
        #expect(entries.map(\.id) == Array(3008...5007))
        #expect(entries.map(\.message) == (3008...5007).map { "message \($0)" })
        #expect(log.lastNumber == 5007)
    }

    @Test("it holds no more memory after a million entries than its ring")
    func bounded() {
        let log = LogStore(capacity: 10)
        fill(log, 1...20_000)
        #expect(log.state.entries.count == 10)
        #expect(log.getLogs().first?.id == 19_991)
    }

    @Test("entries can be asked for by number, level and count")
    func query() {
        let log = LogStore()
        for level in [LogLevel.debug, .info, .warn, .error, .debug, .error] {
            log.add(level: level, tag: "t", message: "m")
        }
        #expect(log.getLogs(after: nil, minimumLevel: .debug, limit: 100).map(\.id) == [1, 2, 3, 4, 5, 6])
        #expect(log.getLogs(after: 2, minimumLevel: .warn, limit: 100).map(\.id) == [3, 4, 6])
        #expect(log.getLogs(after: 0, minimumLevel: .info, limit: 2).map(\.id) == [4, 6])
        #expect(log.getLogs(after: 6, minimumLevel: .debug, limit: 2).isEmpty)
        #expect(log.getLogs(after: nil, minimumLevel: .debug, limit: 0).isEmpty)
        #expect(log.getLogs(after: nil, minimumLevel: .debug, limit: -1).isEmpty)
    }

    @Test("what is less important than the least level is dropped and takes no number")
    func minimumLevel() {
        let log = LogStore(minimumLevel: .warn)
        for level in LogLevel.allCases { log.add(level: level, tag: "t", message: "m") }
        #expect(log.getLogs().map(\.level) == [.warn, .error])
        #expect(log.lastNumber == 2)
        log.minimumLevel = .info
        for level in LogLevel.allCases { log.add(level: level, tag: "t", message: "m") }
        #expect(log.getLogs().map(\.level) == [.warn, .error, .info, .warn, .error])
    }

    @Test("after a clearing there are no entries and numbers go on rising")
    func clear() {
        let log = LogStore(capacity: 3)
        fill(log, 1...5)
        log.clear()
        #expect(log.getLogs().isEmpty)
        fill(log, 6...7)
        #expect(log.getLogs().map(\.id) == [6, 7])
    }

    @Test(
        "characters that could forge a line or move a terminal's cursor are replaced",
        arguments: [
            ("a\nERROR b", "a?ERROR b"), ("a\r\nb", "a??b"), ("\u{1B}[2Jx", "?[2Jx"), ("a\0b", "a?b"),
            ("\u{7F}\u{9B}31m", "??31m"), ("a\u{202E}b\u{2066}c", "a?b?c"), ("a\u{2028}b", "a?b"),
            ("\t", "?"), ("äöü 漢字 ✓", "äöü 漢字 ✓"), ("", ""),
        ])
    func controlCharacters(message: String, shown: String) {
        let log = LogStore()
        log.add(level: .info, tag: message, message: message)
        #expect(log.getLogs().map(\.message) == [shown])
        #expect(log.getLogs().map(\.tag) == [shown])
    }

    @Test(
        "a long message and a long tag are cut with a mark, between characters",
        arguments: ["x", "ü", "漢", "😀"])
    func longMessage(character: String) throws {
        let log = LogStore()
        log.add(
            level: .info, tag: String(repeating: character, count: 100),
            message: String(repeating: character, count: 2000))
        let entry = try #require(log.getLogs().first)
        #expect(entry.message.hasSuffix("\(character)…"))
        #expect((1020...1024).contains(entry.message.utf8.count))
        #expect((28...32).contains(entry.tag.utf8.count))
        let exact = String(repeating: "x", count: 1024)
        log.add(level: .info, tag: "t", message: exact)
        #expect(log.getLogs().last?.message == exact)
    }

    @Test("entries added by many threads have each number once, in order")
    func manyThreads() async {
        let log = LogStore()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<100 { log.add(level: .info, tag: "t", message: "\(task) \(number)") }
                }
            }
        }
        let entries = log.getLogs()
        #expect(entries.map(\.id) == Array(1...800))
        for task in 0..<8 {
            let own = entries.map(\.message).filter { $0.hasPrefix("\(task) ") }
            #expect(own == (0..<100).map { "\(task) \($0)" })
        }
    }
}

@Suite("streams of the log")
struct LogStreamTests {
    private func fill(_ log: LogStore, _ count: Int) {
        for number in 1...count { log.add(level: .info, tag: "test", message: "message \(number)") }
    }

    /// The numbers of entries, and the counts of losses as negative numbers.
    private func take(_ count: Int, of stream: AsyncStream<LogItem>) async -> [Int] {
        var items: [Int] = []
        for await item in stream {
            switch item {
            case .entry(let entry): items.append(Int(entry.id))
            case .lost(let lost): items.append(-Int(lost))
            }
            if items.count == count { break }
        }
        return items
    }

    @Test("a reader gets what is after a number and then what is new, in order", .timeLimit(.minutes(20)))
    func inOrder() async {
        let log = LogStore()
        fill(log, 10)
        let stream = log.stream(after: 7)
        let fromNow = log.stream()
        let reading = Task { await take(1003, of: stream) }
        let readingNew = Task { await take(1000, of: fromNow) }
        for _ in 0..<100 {
            fill(log, 10)
            await Task.yield()
        }
        #expect(await reading.value == Array(8...1010))
        #expect(await readingNew.value == Array(11...1010))
    }

    @Test("a slow reader learns how many entries it lost, in their place, and others lose nothing")
    func slowReader() async {
        let log = LogStore(capacity: 10)
        let slow = log.stream(after: 0)
        fill(log, 3)
        #expect(await take(2, of: slow) == [1, 2])
        fill(log, 25)
        #expect(await take(11, of: slow) == [-16] + Array(19...28))
        let other = log.stream(after: 26)
        #expect(await take(2, of: other) == [27, 28])
    }

    @Test("what was cleared is no loss")
    func cleared() async {
        let log = LogStore(capacity: 10)
        let stream = log.stream(after: 0)
        fill(log, 30)
        log.clear()
        fill(log, 2)
        #expect(await take(2, of: stream) == [31, 32])
    }

    @Test("a number of another run, above all that were given, gets everything")
    func otherRun() async {
        let log = LogStore()
        fill(log, 3)
        #expect(await take(3, of: log.stream(after: 5000)) == [1, 2, 3])
    }

    @Test("a reader that waits ends when its task is cancelled", .timeLimit(.minutes(20)))
    func cancelled() async {
        let log = LogStore()
        for isWaiting in [true, false] {
            let stream = log.stream()
            let reading = Task { await take(1, of: stream) }
            if isWaiting { while log.state.waitingCount == 0 { await Task.yield() } }
            reading.cancel()
            #expect(await reading.value == [])
            #expect(log.state.waitingCount == 0)
        }
    }

    @Test("a hundred readers that come and go leave nothing behind", .timeLimit(.minutes(20)))
    func manyReaders() async {
        let log = LogStore(capacity: 50)
        await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<100 {
                let stream = log.stream(after: 0)
                group.addTask { await take(20, of: stream) }
            }
            for _ in 0..<10 {
                fill(log, 5)
                await Task.yield()
            }
            for await items in group {
                #expect(items.count == 20)
                // Nothing is skipped without a word.
                var next = 1
                for item in items {
                    if item < 0 {
                        next += -item
                    } else {
                        #expect(item == next)
                        next += 1
                    }
                }
            }
        }
        #expect(log.state.waitingCount == 0)
    }
}
