// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Testing

@Suite("A tunnel for everything", .enabled(if: Machine.isReady, Machine.skipReason))
struct FullTunnelTests {
    /// What the kernel knows of routes and rules, in an order of its own, without what ages.
    private func routing(_ place: Namespace) async throws -> [String] {
        try await place.bash(
            """
            ip -4 -o route show table all
            ip -6 -o route show table all
            ip -4 rule
            ip -6 rule
            nft list ruleset
            """
        ).lines.map { line in
            line.split(separator: " ").filter { !$0.hasSuffix("sec") }.joined(separator: " ")
        }.sorted()
    }

    /// Expects routes and rules to become these; the kernel may need a moment.
    private func expectRouting(
        _ wanted: [String], in place: Namespace, after occasion: String = "the end",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        do {
            try await Shell.eventually("routes and rules are as wanted") {
                try await routing(place) == wanted
            }
        } catch {
            let now = try await routing(place)
            Issue.record(
                "after '\(occasion)': \(now.difference(from: wanted))", sourceLocation: sourceLocation)
        }
    }

    /// An agent whose server wants everything through the tunnel, over IPv4 only.
    private func site(_ lab: Lab) async throws -> Site {
        try await Site(lab, ["--allowed-ips", "0.0.0.0/0"])
    }

    @Test("traffic goes through it; heartbeats and the tunnel's own packets do not; IPv6 does not leak")
    func routes() async throws {
        try await Lab.with { lab in
            let site = try await site(lab)
            let agent = try await site.agent()
            let place = agent.namespace
            // The Internet is there without the tunnel, by both families: what follows can fail.
            // One packet each: no late answer is there to be captured.
            #expect(try await place.answersInTurn(to: 1, from: Site.far4) == 1)
            #expect(try await place.answersInTurn(to: 1, from: Site.far6) == 1)
            let outside = try await Capture(lab, in: place, on: "uplink", "ip or ip6")
            try await agent.start()
            let token = try await site.control.token(name: agent.name)
            try await agent.command("provision", "--token-file", token.path)
            try await agent.command("up", "--timeout", "250")
            let inside = try await Capture(lab, in: site.namespace, on: "ngcontrol0", "ip or ip6")
            try await agent.waitForHeartbeat()
            #expect(try await place.answers(to: 20, from: Site.far4) == 20)
            #expect(try await !place.ping(Site.far6, within: 2))
            try await agent.waitForHeartbeat()

            // Of what passed the cable, only the tunnel and the control server were spoken to.
            let inner = try await inside.stop()
            #expect(inner.filter { $0.protocolNumber == Self.icmp }.count >= 40)
            #expect(
                inner.filter { $0.hasPort(ControlServer.port) }.isEmpty, "heartbeats went through the tunnel")
            let outer = try await outside.stop()
            #expect(outer.contains { $0.protocolNumber == Self.udp && $0.hasPort(51820) })
            #expect(outer.contains { $0.protocolNumber == Self.tcp && $0.hasPort(ControlServer.port) })
            let leaks = outer.filter { packet in
                switch packet.protocolNumber {
                case Self.udp: !packet.hasPort(51820)
                case Self.tcp: !packet.hasPort(ControlServer.port)
                // Neighbour discovery and the like; echo requests and answers would be the leak.
                case Self.icmp6: [128, 129].contains(packet.bytes.count > 40 ? packet.bytes[40] : 0)
                case 0: false
                default: true
                }
            }
            #expect(leaks.isEmpty, "\(leaks.prefix(3).map(\.bytes))")
        }
    }

    @Test("a rule or route that somebody deletes is put back")
    func repair() async throws {
        try await Lab.with { lab in
            let site = try await site(lab)
            let agent = try await site.connectedAgent()
            let place = agent.namespace
            #expect(try await place.ping(Site.far4))
            try await place.awaitAddresses()
            let wanted = try await routing(place)
            for deletion in [
                "-4 rule del priority 5410", "-4 rule del priority 5400", "-6 rule del priority 5410",
                "-4 route flush table 51821", "-6 route flush table 51821",
            ] {
                try await place.ip(deletion)
                try await expectRouting(wanted, in: place, after: deletion)
            }
            #expect(try await place.ping(Site.far4))
            #expect(try await agent.status().state == "connected")
        }
    }

    @Test("after SIGKILL, cleanup leaves routes and rules as they were before")
    func cleanup() async throws {
        try await Lab.with { lab in
            let site = try await site(lab)
            let agent = try await site.agent()
            let place = agent.namespace
            // Rules of others, with priorities around the agent's, stay.
            try await place.ip("-4 rule add priority 5405 to 203.0.113.0/24 lookup main")
            try await place.ip("-6 rule add priority 5405 to 2001:db8:ffff::/48 lookup main")
            try await place.awaitLink("uplink")
            let before = try await routing(place)
            try await agent.start()
            let token = try await site.control.token(name: agent.name)
            try await agent.command("provision", "--token-file", token.path)
            try await agent.command("up", "--timeout", "250")
            #expect(try await routing(place) != before)
            // While the daemon runs, its changes are not to be taken from under it.
            #expect(try await !agent.run("cleanup", "--state-dir", agent.stateDirectory).succeeded)
            #expect(try await place.ping(Site.far4))

            try await agent.kill()
            #expect(try await routing(place) != before, "nothing is left behind: cleanup has nothing to do")
            try await agent.command("cleanup", "--state-dir", agent.stateDirectory)
            try await expectRouting(before, in: place)
            #expect(try await place.ping(Site.far4))
            // Nothing to undo is no failure.
            try await agent.command("cleanup", "--state-dir", agent.stateDirectory)
            try await expectRouting(before, in: place)

            // The next start after SIGKILL does the same, and an ordered end too.
            try await agent.start()
            try await agent.waitUntilConnected()
            try await agent.kill()
            try await agent.start()
            try await agent.waitUntilConnected()
            #expect(try await place.ping(Site.far4))
            try await agent.stop()
            try await expectRouting(before, in: place)
        }
    }

    private static let icmp = 1
    private static let tcp = 6
    private static let udp = 17
    private static let icmp6 = 58
}

extension CapturedPacket {
    /// The number of the protocol above IP.
    var protocolNumber: Int {
        version == 4 ? Int(bytes.count > 9 ? bytes[9] : 0) : Int(bytes.count > 6 ? bytes[6] : 0)
    }

    /// Whether it is from or to a port of TCP or UDP.
    func hasPort(_ port: Int) -> Bool {
        let start = version == 4 ? Int(bytes[0] & 0x0f) * 4 : 40
        guard [6, 17].contains(protocolNumber), bytes.count > start + 3 else { return false }
        return [start, start + 2].contains { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) == port }
    }
}
