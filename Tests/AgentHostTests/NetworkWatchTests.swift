// SPDX-License-Identifier: MIT

import Glibc
import NexusGuard
import Synchronization
import Testing

@testable import AgentHost

@Suite(
    "watch of the network",
    .enabled(if: HostTestNamespace.isAvailable, "network namespaces need root"))
struct NetworkWatchTests {
    /// Collects the events of a watch.
    private final class Events: Sendable {
        private let state = Mutex<[NetworkEvent]>([])
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ watch: NetworkWatch) {
            let stream = watch.events
            let task = Task { [weak self] in
                for await event in stream { self?.state.withLock { $0.append(event) } }
            }
            self.task.withLock { $0 = task }
        }

        deinit {
            task.withLock { $0?.cancel() }
        }

        /// The events since the last call, once these are among them.
        func wait(for wanted: NetworkEvent) throws -> [NetworkEvent] {
            try HostTestNamespace.eventually("\(wanted)") { state.withLock { $0.contains(wanted) } }
            return take()
        }

        func take() -> [NetworkEvent] {
            state.withLock { state in
                defer { state = [] }
                return state
            }
        }
    }

    /// Long enough for changes to be told that have come to rest.
    private static let rest: useconds_t = 1_500_000

    @Test("a link that goes and comes back is told as offline and online, each once")
    func link() async throws {
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            let watch = try NetworkWatch()
            #expect(watch.isOnline)
            let events = Events(watch)
            try HostTestNamespace.ip("link set up0 down")
            #expect(try events.wait(for: .offline) == [.offline])
            #expect(!watch.isOnline)
            for line in [
                "link set up0 up", "addr replace 2001:db8::2/64 dev up0 nodad",
                "route replace default via 192.0.2.1",
            ] {
                try HostTestNamespace.ip(line)
            }
            let told = try events.wait(for: .online)
            #expect(told.first == .online)
            #expect(!told.contains(.offline))
            #expect(watch.isOnline)
        }
    }

    @Test("another address, or another way out, is told as a change")
    func changes() async throws {
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            let watch = try NetworkWatch()
            let events = Events(watch)
            for line in [
                "addr add 192.0.2.77/24 dev up0", "route replace default via 192.0.2.254",
                "rule add pref 100 fwmark 0x4e470000 lookup 77", "route add 192.0.2.55/32 dev up0 table 77",
            ] {
                try HostTestNamespace.ip(line)
                if line.hasPrefix("rule") { continue }
                if line.contains("table 77") {
                    try HostTestNamespace.ip("route add default via 192.0.2.55 table 77")
                }
                #expect(try events.wait(for: .changed) == [.changed], "\(line)")
            }
        }
    }

    @Test("a burst of changes is told once, after it has come to rest")
    func burst() async throws {
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            let watch = try NetworkWatch()
            let events = Events(watch)
            // By one process, which a busy machine interrupts a few times at most: a pause that falls into the burst
            // makes one more.
            let lines = "for n in $(seq 100 139); do echo addr add 192.0.2.$n/24 dev up0; done"
            let result = try HostTestNamespace.spawn(["sh", "-c", "\(lines) | ip -batch -"])
            try #require(result.status == 0, "\(result.output)")
            usleep(Self.rest)
            #expect((1...5).contains(try events.wait(for: .changed).count))
        }
    }

    @Test("interfaces that our traffic does not use are no news")
    func containers() async throws {
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            let watch = try NetworkWatch()
            let events = Events(watch)
            for line in [
                "link add box0 type veth peer name box1", "link set box0 up", "link set box1 up",
                "addr add 172.17.0.1/16 dev box0", "route add 172.18.0.0/16 via 172.17.0.9",
            ] {
                try HostTestNamespace.ip(line)
            }
            usleep(Self.rest)
            #expect(events.take() == [])
            try HostTestNamespace.ip("link del box0")
            usleep(Self.rest)
            #expect(events.take() == [])
        }
    }

    @Test("the tunnel's own interface, routes and rules are no news")
    func ownChanges() async throws {
        try await withHost { host, journal in
            let watch = try NetworkWatch(ignoredInterfaces: ["ng0"])
            let events = Events(watch)
            try withTunnel(samplePlan(), on: host, journal) { _ in
                try host.apply(samplePlan(allowedIPs: ["10.7.0.0/16"]))
                usleep(Self.rest)
                #expect(events.take() == [])
                // What changes beside it still is.
                try HostTestNamespace.ip("addr add 192.0.2.77/24 dev up0")
                #expect(try events.wait(for: .changed) == [.changed])
                try HostTestNamespace.ip("addr del 192.0.2.77/24 dev up0")
            }
        }
    }

    @Test("with destinations only their routes count, also in a full tunnel")
    func destinations() async throws {
        try await withHost { host, journal in
            try withTunnel(samplePlan(), on: host, journal) { _ in
                let watch = try NetworkWatch(ignoredInterfaces: ["ng0"])
                let events = Events(watch)
                let server = try IPAddress("198.51.100.7")
                watch.setDestinations([server])
                #expect(watch.hasRoute(to: server))
                try HostTestNamespace.ip("route del default via 192.0.2.1")
                // The new destinations are looked at meanwhile, and what is seen of half a change does not count.
                #expect(try events.wait(for: .offline) == [.offline])
                // By the tunnel it would be reached, but control traffic does not go in.
                #expect(try HostTestNamespace.ip("route get 198.51.100.7").contains("dev ng0"))
                #expect(!watch.hasRoute(to: server))
                #expect(watch.hasRoute(to: try IPAddress("192.0.2.9")))
                watch.setDestinations([server, try IPAddress("192.0.2.9")])
                #expect(try events.wait(for: .online) == [.online])
                try HostTestNamespace.ip("route add default via 192.0.2.1")
            }
        }
    }

    @Test("sleep is told with its length")
    func sleep() async throws {
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            let asleep = Clock()
            let watch = try NetworkWatch(ignoredInterfaces: []) { asleep.nanoseconds }
            let events = Events(watch)
            asleep.advance(90_000_000_000)
            let nap = NetworkEvent.resumed(after: .seconds(90))
            #expect(try events.wait(for: nap) == [nap])
            // What the two clocks differ by when they are read is no sleep.
            asleep.advance(400_000)
            usleep(Self.rest)
            #expect(events.take() == [])
        }
    }

    @Test("the streams end with the watch")
    func end() async throws {
        try await HostTestNamespace.run {
            var watch: NetworkWatch? = try NetworkWatch()
            let stream = try #require(watch?.events)
            let ended = Ended()
            Task {
                for await _ in stream {}
                ended.set()
            }
            watch = nil
            try HostTestNamespace.eventually("the stream ends") { ended.isSet }
            #expect(watch == nil)
        }
    }

    /// A clock of the time asleep that is set by hand.
    private final class Clock: Sendable {
        private let state = Mutex<Int64>(0)

        var nanoseconds: Int64 { state.withLock { $0 } }

        func advance(_ nanoseconds: Int64) { state.withLock { $0 += nanoseconds } }
    }

    /// A flag.
    private final class Ended: Sendable {
        private let state = Mutex(false)

        var isSet: Bool { state.withLock { $0 } }

        func set() { state.withLock { $0 = true } }
    }
}
