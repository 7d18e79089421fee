// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import AgentStore
import Synchronization
import Testing

@testable internal import NexusGuardAgent
@testable internal import nexusguard

@Suite("events of the local API")
struct EventStreamTests {
    /// Events as they come, from any thread.
    private final class EventList: Sendable {
        private let events = Mutex<[ServerSentEvent]>([])

        func add(_ event: ServerSentEvent) { events.withLock { $0.append(event) } }

        var all: [ServerSentEvent] { events.withLock { $0 } }
    }

    /// Collects events from a stream until told to stop.
    private struct Collector {
        private let list = EventList()
        private let task: Task<Void, Never>

        init(_ served: ServedAgent, after position: String? = nil) {
            let client = AgentClient(socket: served.socket)
            task = Task { [list] in
                do {
                    try await client.follow(after: position) { list.add($0) }
                } catch {
                    // The end of a stream is what several tests are about.
                }
            }
        }

        func stop() { task.cancel() }

        var all: [ServerSentEvent] { list.all }

        func named(_ name: String) -> [ServerSentEvent] { all.filter { $0.name == name } }

        /// The messages of the entries of the log that came.
        var messages: [String] {
            named("log").map { event in
                let fields = try? JSONFields(parsing: event.data)
                return ((try? fields?.text("message", limit: 4096)) ?? nil) ?? "?"
            }
        }
    }

    private func eventually(_ holds: () async -> Bool) async -> Bool {
        for _ in 0..<30_000 {
            if await holds() { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    @Test("a client gets the state at once, and each change of state, health and forwards")
    func state() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let collector = Collector(served)
        defer { collector.stop() }
        #expect(await eventually { collector.named("forwards").count == 1 })
        #expect(collector.all.map(\.name) == ["snapshot", "health", "forwards"])
        #expect(collector.named("forwards")[0].data == Array(#"{"schema":1,"forwards":null}"#.utf8))
        await served.agent.show { snapshot in
            snapshot.state = .connected
            snapshot.health = [HealthItem(code: "clock-skew", text: "400 s")]
        }
        #expect(await eventually { collector.named("health").count == 2 })
        let last = try #require(collector.named("snapshot").last)
        #expect(try AgentSnapshot(parsing: last.data).state == .connected)
        #expect(
            collector.named("health").last?.data
                == Array(#"{"schema":1,"health":[{"code":"clock-skew","text":"400 s"}]}"#.utf8))
        await served.agent.show { $0.forwards = [] }
        #expect(await eventually { collector.named("forwards").count == 2 })
        #expect(collector.named("health").count == 2)
        #expect(collector.all.filter { $0.name != "log" }.allSatisfy { $0.identifier == nil })
    }

    @Test("entries of the log come with positions, and a client that comes back misses none")
    func resume() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        served.log.add(level: .info, tag: "test", message: "one")
        served.log.add(level: .info, tag: "test", message: "two")
        let first = Collector(served, after: "0")
        #expect(await eventually { first.messages == ["one", "two"] })
        served.log.add(level: .info, tag: "test", message: "three")
        #expect(await eventually { first.messages.count == 3 })
        first.stop()
        let position = try #require(first.named("log").last?.identifier)
        for number in 4...6 { served.log.add(level: .warn, tag: "test", message: "\(number)") }
        let second = Collector(served, after: position)
        #expect(await eventually { second.messages == ["4", "5", "6"] })
        second.stop()
        // A position of an earlier run of the daemon: everything of this run is new.
        let third = Collector(served, after: "00000000.999")
        #expect(await eventually { third.messages == ["one", "two", "three", "4", "5", "6"] })
        third.stop()
    }

    @Test("without a position only new entries come")
    func fresh() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        served.log.add(level: .info, tag: "test", message: "old")
        let collector = Collector(served)
        defer { collector.stop() }
        #expect(await eventually { !collector.named("snapshot").isEmpty })
        // The reader of the log begins at about the same time: entries are added until one comes.
        #expect(
            await eventually {
                served.log.add(level: .info, tag: "test", message: "new")
                return !collector.messages.isEmpty
            })
        #expect(!collector.messages.contains("old"))
    }

    @Test("a client that goes away leaves nothing behind")
    func gone() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let collectors = (0..<5).map { _ in Collector(served) }
        #expect(await eventually { await served.agent.readerCount == 5 })
        for collector in collectors { collector.stop() }
        // The server notices with the next write.
        #expect(
            await eventually {
                await served.agent.show { $0.counters.heartbeatsSent += 1 }
                return await served.agent.readerCount == 0
            })
    }

    @Test("the end of the service ends streams that are open")
    func end() async throws {
        let served = try ServedAgent()
        let collector = Collector(served)
        #expect(await eventually { !collector.all.isEmpty })
        served.stop()
        #expect(await eventually { await served.agent.readerCount == 0 })
        collector.stop()
    }

    @Test(
        "positions are numbers with or without the name of a run",
        arguments: [
            ("7", 7), ("ab.7", 7), ("cd.7", 0), ("0", 0), ("", nil), ("18446744073709551615", .max),
        ] as [(String, UInt64?)])
    func positions(text: String, expected: UInt64?) throws {
        let peer = ServerPeer.unix(uid: 0, gid: 0, pid: 1, groups: [])
        let header = ServerRequest(
            method: "GET", path: "/", headers: [("Last-Event-ID", text)], peer: peer)
        #expect(try EventStream.position(of: header, instance: "ab") == expected)
        let query = ServerRequest(method: "GET", path: "/", query: [("after", text)], peer: peer)
        #expect(try EventStream.position(of: query, instance: "ab") == expected)
        let none = ServerRequest(method: "GET", path: "/", peer: peer)
        #expect(try EventStream.position(of: none, instance: "ab") == nil)
    }

    @Test("what is no position is refused", arguments: ["x", "-1", "1.2.3", "ab.", "18446744073709551616"])
    func noPosition(text: String) {
        let request = ServerRequest(
            method: "GET", path: "/", query: [("after", text)],
            peer: .unix(uid: 0, gid: 0, pid: 1, groups: []))
        let error = #expect(throws: APIError.self) {
            try EventStream.position(of: request, instance: "ab")
        }
        #expect(error?.field == "after")
    }
}
