// SPDX-License-Identifier: MIT

import Glibc
import NexusGuard
import Testing

@testable import AgentHost

@Suite(
    "host's network: repair",
    .enabled(if: HostTestNamespace.isAvailable, "network namespaces need root"))
struct HostRepairTests {
    static let damages: [(String, [String])] = [
        ("the rule into the tunnel", ["ip rule del pref 5410"]),
        ("the rule of the main table", ["ip rule del pref 5400"]),
        ("a rule of IPv6", ["ip -6 rule del pref 5410"]),
        (
            "all rules but the usual",
            ["ip rule flush", "ip rule add pref 32766 lookup main", "ip rule add pref 32767 lookup default"]
        ),
        ("the default route of the tunnel", ["ip route del default table 51821"]),
        ("the refusal of IPv6", ["ip -6 route del unreachable default table 51821"]),
        ("a route of the main table", ["ip route del 10.7.0.0/16 dev ng0"]),
        ("the address", ["ip addr del 10.172.21.2/32 dev ng0"]),
        ("the interface's state", ["ip link set ng0 down"]),
        ("the tables of the packet filter", ["nft flush ruleset"]),
    ]

    @Test("what somebody deletes comes back", arguments: damages)
    func repaired(_ what: String, _ lines: [String]) async throws {
        try await withHost { host, journal in
            try withTunnel(samplePlan(allowedIPs: ["0.0.0.0/0", "10.7.0.0/16"]), on: host, journal) { _ in
                let picture = try HostTestNamespace.picture()
                for line in lines { try HostTestNamespace.tool(line) }
                try HostTestNamespace.eventually("\(what) is back") {
                    try HostTestNamespace.picture() == picture
                }
            }
        }
    }

    @Test("after removal nothing comes back")
    func removed() async throws {
        try await withHost { host, journal in
            try withTunnel(samplePlan(), on: host, journal) { _ in
                host.remove()
                let picture = try HostTestNamespace.picture()
                #expect(!picture.contains("5410"))
                try HostTestNamespace.ip("route add 10.99.0.0/16 via 192.0.2.1")
                try HostTestNamespace.ip("route del 10.99.0.0/16")
                usleep(300_000)
                #expect(try HostTestNamespace.picture() == picture)
            }
        }
    }

    @Test("repairs come ever more seldom while somebody goes on deleting, and at once after a time of peace")
    func pace() {
        let pace = RepairPace()
        let second: Int64 = 1_000_000_000
        var now: Int64 = 100 * second
        var count = 0
        // Somebody deletes without end: each time that a repair is allowed it is needed.
        while now < 160 * second {
            if pace.postpone(at: now) == nil {
                pace.noteRepair(at: now)
                count += 1
            }
            now += second / 100
        }
        #expect((5...20).contains(count))
        #expect(pace.deadline != nil)
        now += 31 * second
        #expect(pace.postpone(at: now) == nil)
        pace.noteRepair(at: now)
        #expect(pace.postpone(at: now + second) == nil)
    }
}
