// SPDX-License-Identifier: MIT

import AgentHost
import NexusGuard
import Testing

@Suite("host plan")
struct HostPlanTests {
    /// A row: addresses, allowed IPs, servers; the routes, and whether the rules of IPv4 and IPv6 are needed.
    static let table: [(String, [String], [String], [String], [String], Bool, Bool)] = [
        (
            "one network", ["10.0.0.2/32"], ["10.7.0.0/16"], ["192.0.2.7"],
            ["10.7.0.0/16 table 254"], false, false
        ),
        (
            "the network of the address needs no route", ["10.0.0.2/24"], ["10.0.0.0/24", "10.0.0.128/25"],
            ["192.0.2.7"], [], false, false
        ),
        (
            "a single IPv4 address brings no route", ["10.0.0.2/32"], ["10.0.0.2/32"], ["192.0.2.7"],
            ["10.0.0.2/32 table 254"], false, false
        ),
        (
            "the longest prefixes first", ["10.0.0.2/32"], ["10.0.0.0/8", "10.7.0.0/16", "fd00::/8"],
            ["192.0.2.7"], ["10.7.0.0/16 table 254", "10.0.0.0/8 table 254", "fd00::/8 table 254"], false,
            false
        ),
        (
            "all of IPv4", ["10.0.0.2/32"], ["0.0.0.0/0"], ["192.0.2.7"],
            ["0.0.0.0/0 table 51821", "unreachable ::/0 table 51821"], true, true
        ),
        (
            "all of IPv6", ["fd00::2/128"], ["::/0"], ["192.0.2.7"],
            ["::/0 table 51821", "unreachable 0.0.0.0/0 table 51821"], true, true
        ),
        (
            "everything", ["10.0.0.2/32", "fd00::2/128"], ["0.0.0.0/0", "::/0"], ["192.0.2.7"],
            ["0.0.0.0/0 table 51821", "::/0 table 51821"], true, true
        ),
        (
            "two halves are everything", ["10.0.0.2/32"], ["0.0.0.0/1", "128.0.0.0/1"], ["192.0.2.7"],
            ["0.0.0.0/1 table 51821", "128.0.0.0/1 table 51821", "unreachable ::/0 table 51821"], true, true
        ),
        (
            "one half is a network like others", ["10.0.0.2/32"], ["0.0.0.0/1"], ["192.0.2.7"],
            ["0.0.0.0/1 table 254"], false, false
        ),
        (
            "some of the other family", ["10.0.0.2/32", "fd00::2/128"], ["0.0.0.0/0", "fd00:8::/32"],
            ["192.0.2.7"],
            ["fd00:8::/32 table 254", "0.0.0.0/0 table 51821", "unreachable ::/0 table 51821"], true, true
        ),
        (
            "a prefix with the server inside", ["10.0.0.2/32"], ["192.0.0.0/16", "10.7.0.0/16"],
            ["192.0.2.7"],
            ["192.0.0.0/16 table 51821", "10.7.0.0/16 table 254"], true, false
        ),
        ("nothing", ["10.0.0.2/32"], [], ["192.0.2.7"], [], false, false),
        (
            "the same twice", ["10.0.0.2/32", "10.0.0.2/32"], ["10.7.0.0/16", "10.7.0.0/16"], [],
            ["10.7.0.0/16 table 254"], false, false
        ),
    ]

    @Test("routes and rules", arguments: table)
    func plans(
        _ what: String, _ addresses: [String], _ allowedIPs: [String], _ servers: [String],
        _ routes: [String],
        _ rulesIPv4: Bool, _ rulesIPv6: Bool
    ) throws {
        let plan = try samplePlan(addresses: addresses, allowedIPs: allowedIPs, servers: servers)
        // Among prefixes of one length the order does not matter.
        #expect(plan.routes.map(\.description).sorted() == routes.sorted(), "\(what)")
        let lengths = plan.routes.map(\.destination.length)
        #expect(lengths == lengths.sorted(by: >), "\(what)")
        #expect(plan.rulesIPv4 == rulesIPv4, "\(what)")
        #expect(plan.rulesIPv6 == rulesIPv6, "\(what)")
        #expect(plan.omitted == [], "\(what)")
    }

    @Test("without IPv6 in the interface its parts are left out, and a full tunnel refuses IPv6 elsewhere")
    func noIPv6InTunnel() throws {
        let plan = try samplePlan(
            addresses: ["10.0.0.2/32", "fd00::2/64"], allowedIPs: ["0.0.0.0/0", "::/0", "fd00:8::/64"],
            capabilities: HostCapabilities(routesIPv6: true, interfaceTakesIPv6: false))
        #expect(plan.addresses.map(\.description) == ["10.0.0.2/32"])
        #expect(
            Set(plan.routes.map(\.description)) == ["0.0.0.0/0 table 51821", "unreachable ::/0 table 51821"])
        #expect(plan.rulesIPv6)
        #expect(plan.omitted == ["fd00::2/64", "::/0", "fd00:8::/64"])
    }

    @Test("an MTU below 1280 takes IPv6 from the interface")
    func smallMTU() throws {
        let plan = try samplePlan(
            addresses: ["10.0.0.2/32", "fd00::2/64"], allowedIPs: ["0.0.0.0/0", "::/0"], mtu: 1_279)
        #expect(plan.mtu == 1_279)
        #expect(plan.addresses.map(\.description) == ["10.0.0.2/32"])
        #expect(plan.routes.map(\.description).contains("unreachable ::/0 table 51821"))
        let large = try samplePlan(
            addresses: ["10.0.0.2/32", "fd00::2/64"], allowedIPs: ["0.0.0.0/0", "::/0"], mtu: 1_280)
        #expect(large.omitted == [])
    }

    @Test("a kernel without IPv6 gets nothing of it")
    func noIPv6AtAll() throws {
        let plan = try samplePlan(
            addresses: ["10.0.0.2/32", "fd00::2/64"], allowedIPs: ["0.0.0.0/0", "::/0"],
            capabilities: HostCapabilities(routesIPv6: false, interfaceTakesIPv6: false))
        #expect(plan.routes.map(\.description) == ["0.0.0.0/0 table 51821"])
        #expect(plan.rulesIPv4)
        #expect(!plan.rulesIPv6)
    }

    @Test("in a full tunnel marked packets, too, reach the server's address inside")
    func serverAddress() throws {
        let plan = try samplePlan(serverAddress: "10.172.21.1")
        #expect(plan.routes.first?.description == "10.172.21.1/32 table 254")
        // Not when it is the address that the tunnel's own datagrams go to, or one of a connected network.
        let same = try samplePlan(servers: ["10.172.21.1"], serverAddress: "10.172.21.1")
        #expect(same.routes.allSatisfy { $0.destination.length == 0 })
        let connected = try samplePlan(addresses: ["10.172.21.2/24"], serverAddress: "10.172.21.1")
        #expect(connected.routes.allSatisfy { $0.destination.length == 0 })
        let split = try samplePlan(allowedIPs: ["10.7.0.0/16"], serverAddress: "10.172.21.1")
        #expect(split.routes.map(\.description) == ["10.7.0.0/16 table 254"])
    }
}
