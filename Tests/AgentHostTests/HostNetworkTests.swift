// SPDX-License-Identifier: MIT

import AgentHost
import Glibc
import NexusGuard
import Testing

/// A namespace with an uplink `up0` that has default routes, and the host under test.
func withHost(_ body: @escaping @Sendable (HostNetwork, MemoryJournal) throws -> Void) async throws {
    try await HostTestNamespace.run {
        try HostTestNamespace.makeUplink()
        let journal = MemoryJournal()
        try body(HostNetwork(storage: journal), journal)
    }
}

/// Brings a tunnel `ng0` up, takes it down after `body`, and finds network and journal as they were before it.
///
/// - Parameter plan: What is applied before `body`, which does it itself where there is none.
func withTunnel(
    _ plan: HostPlan? = nil, on host: HostNetwork, _ journal: MemoryJournal,
    _ body: (HostTestTunnel) throws -> Void
) throws {
    let before = try HostTestNamespace.picture()
    try host.claimInterface("ng0")
    do {
        let tunnel = try HostTestTunnel("ng0")
        if let plan { try host.apply(plan) }
        try body(tunnel)
        host.remove()
        withExtendedLifetime(tunnel) {}
    }
    host.releaseInterface()
    #expect(try HostTestNamespace.picture() == before)
    #expect(journal.bytes == nil)
}

@Suite(
    "host's network: apply, change, remove",
    .enabled(if: HostTestNamespace.isAvailable, "network namespaces need root"))
struct HostNetworkTests {
    @Test("a full tunnel of one family: routes, rules and refusal of the other, and nothing after removal")
    func fullTunnel() async throws {
        try await withHost { host, journal in
            try withTunnel(samplePlan(), on: host, journal) { _ in
                #expect(host.problems == [])
                let rules = """
                    0:	from all lookup local proto kernel
                    5400:	from all lookup main suppress_prefixlength 0 proto kernel
                    5410:	not from all fwmark 0x4e470000/0xffff0000 lookup 51821 proto kernel
                    32766:	from all lookup main proto kernel

                    """
                let last = "32767:\tfrom all lookup default proto kernel\n"
                #expect(try HostTestNamespace.ip("-d -4 rule") == rules + last)
                #expect(try HostTestNamespace.ip("-d -6 rule") == rules)
                #expect(
                    try HostTestNamespace.ip("-4 route show table 51821")
                        == "default dev ng0 proto kernel scope link \n")
                let refusal = try HostTestNamespace.ip("-6 route show table 51821")
                #expect(refusal.hasPrefix("unreachable default dev lo proto kernel metric 1313275904"))
                #expect(
                    try HostTestNamespace.ip("addr show dev ng0").contains(
                        "inet 10.172.21.2/32 scope global ng0")
                )
                #expect(try HostTestNamespace.ip("route get 198.51.100.9").contains("dev ng0"))
                #expect(
                    try HostTestNamespace.ip("route get 198.51.100.9 mark 0x4e470000").contains("dev up0"))
                // The lower half of the mark is the administrator's.
                #expect(
                    try HostTestNamespace.ip("route get 198.51.100.9 mark 0x4e470007").contains("dev up0"))
                #expect(
                    try HostTestNamespace.ip("route get 198.51.100.9 mark 0x4e480000").contains("dev ng0"))
                #expect(try HostTestNamespace.ip("route get 192.0.2.9").contains("dev up0"))
                #expect(try HostTestNamespace.spawn(["ip", "route", "get", "2001:db8:9::9"]).status != 0)
                #expect(journal.bytes != nil)
            }
        }
    }

    @Test("an IPv6 address of the tunnel can be used as soon as the plan is applied")
    func addressAtOnce() async throws {
        try await withHost { host, journal in
            try withTunnel(
                samplePlan(addresses: ["10.0.0.2/24", "fd00::2/64"], allowedIPs: ["::/0"]), on: host, journal
            ) { _ in
                let addresses = try HostTestNamespace.ip("-6 addr show dev ng0")
                #expect(addresses.contains("inet6 fd00::2/64 scope global nodad"))
                #expect(!addresses.contains("tentative"))
                #expect(!(try HostTestNamespace.ip("-4 addr show dev ng0").contains("nodad")))
            }
        }
    }

    @Test("applying the same plan again changes and writes nothing")
    func idempotent() async throws {
        try await withHost { host, journal in
            try withTunnel(samplePlan(), on: host, journal) { _ in
                let picture = try HostTestNamespace.picture()
                let saves = journal.saves.count
                try host.apply(samplePlan())
                #expect(try host.verify() == false)
                #expect(try HostTestNamespace.picture() == picture)
                #expect(journal.saves.count == saves)
            }
        }
    }

    static let changes: [(String, [String], [String])] = [
        ("split to full", ["10.0.0.2/24"], ["0.0.0.0/0"]),
        ("one network to another", ["10.0.0.2/24"], ["10.8.0.0/16", "fd00:8::/64"]),
        ("another address of the same network", ["10.0.0.3/24"], ["10.7.0.0/16"]),
        ("both families", ["10.0.0.2/24", "fd00::2/64"], ["0.0.0.0/0", "::/0"]),
        ("only IPv6", ["fd00::2/64"], ["::/0"]),
        ("nothing but an address", ["10.0.0.2/32"], []),
    ]

    @Test("a change in place gives what a fresh start gives", arguments: changes)
    func change(_ what: String, _ addresses: [String], _ allowedIPs: [String]) async throws {
        let target = try samplePlan(addresses: addresses, allowedIPs: allowedIPs, mtu: 1_380)
        let others = [
            try samplePlan(addresses: ["10.0.0.2/24"], allowedIPs: ["10.7.0.0/16", "10.0.0.0/24"]),
            try samplePlan(addresses: ["10.0.0.9/24", "fd00::9/64"], allowedIPs: ["0.0.0.0/0", "::/0"]),
        ]
        for other in others {
            try await withHost { host, journal in
                try withTunnel(target, on: host, journal) { _ in
                    let wanted = try HostTestNamespace.picture()
                    let entries = journal.bytes
                    try host.apply(other)
                    try host.apply(target)
                    #expect(
                        try Self.unordered(HostTestNamespace.picture()) == Self.unordered(wanted), "\(what)")
                    #expect(journal.bytes == entries)
                }
            }
        }
    }

    @Test("a split tunnel takes only its prefixes, the longer ones of the uplink stay")
    func splitTunnel() async throws {
        try await withHost { host, journal in
            try HostTestNamespace.ip("route add 10.1.2.0/24 via 192.0.2.1")
            try withTunnel(
                samplePlan(addresses: ["10.9.0.2/24"], allowedIPs: ["10.0.0.0/8", "10.9.0.0/24"]), on: host,
                journal
            ) { _ throws in
                #expect(try HostTestNamespace.ip("route get 10.5.5.5").contains("dev ng0"))
                #expect(try HostTestNamespace.ip("route get 10.1.2.3").contains("dev up0"))
                #expect(try HostTestNamespace.ip("route get 198.51.100.9").contains("dev up0"))
                #expect(try HostTestNamespace.ip("-6 route get 2001:db8:9::9").contains("dev up0"))
                #expect(try !HostTestNamespace.ip("rule").contains("51821"))
            }
        }
    }

    @Test("a prefix that holds the server leads all but the tunnel's own datagrams into the tunnel")
    func serverInside() async throws {
        try await withHost { host, journal in
            try withTunnel(
                samplePlan(allowedIPs: ["198.51.0.0/16"], servers: ["198.51.100.7"]), on: host, journal
            ) { _ throws in
                #expect(try HostTestNamespace.ip("route get 198.51.100.7").contains("dev ng0"))
                #expect(
                    try HostTestNamespace.ip("route get 198.51.100.7 mark 0x4e470000").contains("dev up0"))
                #expect(try HostTestNamespace.ip("route get 203.0.113.1").contains("dev up0"))
                #expect(try HostTestNamespace.ip("-6 route get 2001:db8:9::9").contains("dev up0"))
            }
        }
    }

    @Test("a route that others made stays, and the tunnel comes up without it")
    func foreignRoute() async throws {
        try await withHost { host, journal in
            try HostTestNamespace.ip("route add 10.7.0.0/16 via 192.0.2.1")
            try withTunnel(samplePlan(allowedIPs: ["10.7.0.0/16", "10.8.0.0/16"]), on: host, journal) {
                _ throws in
                #expect(host.problems == ["another route to 10.7.0.0/16 exists and is left alone"])
                #expect(try HostTestNamespace.ip("route get 10.7.0.1").contains("dev up0"))
                #expect(try HostTestNamespace.ip("route get 10.8.0.1").contains("dev ng0"))
            }
        }
    }

    static let rooms: [(String, Int)] = [
        ("link set up0 mtu 1500", 1_420), ("link set up0 mtu 9000", 1_420), ("link set up0 mtu 1492", 1_412),
        ("link set up0 mtu 1300", 1_280), ("route replace default via 192.0.2.1 mtu 1400", 1_320),
        ("route del default", 1_420),
    ]

    @Test("the tunnel's MTU leaves 80 bytes of the way to the server, as wg-quick does", arguments: rooms)
    func suitableMTU(_ line: String, _ mtu: Int) async throws {
        try await withHost { host, _ in
            try HostTestNamespace.ip(line)
            #expect(host.suitableMTU(serverAddresses: [try IPAddress("198.51.100.7")]) == mtu)
        }
    }

    @Test("an interface of others with the name is refused and stays")
    func takenInterface() async throws {
        try await withHost { host, journal in
            try HostTestNamespace.ip("tuntap add dev ng0 mode tun")
            #expect(throws: HostError.interfaceTaken(name: "ng0")) { try host.claimInterface("ng0") }
            #expect(try HostTestNamespace.ip("link").contains("ng0"))
            #expect(journal.bytes == nil)
        }
    }

    @Test("when the journal can not be written the host stays as it is")
    func journalRefuses() async throws {
        try await withHost { host, journal in
            try withTunnel(on: host, journal) { _ in
                let before = try HostTestNamespace.picture()
                journal.allow(0)
                #expect(throws: HostError.journal(operation: "write", errno: 28)) {
                    try host.apply(samplePlan())
                }
                #expect(try HostTestNamespace.picture() == before)

                journal.allow(nil)
                try host.apply(samplePlan())
                let full = try HostTestNamespace.picture()
                journal.allow(0)
                #expect(throws: HostError.journal(operation: "write", errno: 28)) {
                    try host.apply(samplePlan(allowedIPs: ["10.0.0.0/8", "0.0.0.0/0"]))
                }
                let after = try HostTestNamespace.picture()
                #expect(after.split(separator: "\n") == full.split(separator: "\n"))
                journal.allow(nil)
            }
        }
    }

    /// The order of equal entries depends on when they were made.
    private static func unordered(_ picture: String) -> [Substring] {
        picture.split(separator: "\n").sorted()
    }
}
