// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Testing

@Suite("The life of a device", .enabled(if: Machine.isReady, Machine.skipReason))
struct LifeTests {
    @Test("a token becomes an identity, the identity a tunnel, and packets pass")
    func provisioning() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.agent()
            try await agent.start()
            let before = try await agent.status()
            #expect(before.state == "disconnected")
            #expect(!before.provisioned)
            #expect(try await agent.run("up", "--timeout", "250").status == 6)

            let token = try await site.control.token(name: agent.name)
            try await agent.command("provision", "--token-stdin", input: token.text + "\n")
            let output = try await agent.command("up", "--timeout", "250")
            #expect(output.standardOutput.contains("Connected"))
            #expect(try await agent.namespace.ping(Site.inner))

            let status = try await agent.waitFor("a heartbeat is accepted") { $0.lastHeartbeat != nil }
            let device = try await site.control.device(agent.name)
            #expect(
                status.tunnel?.addresses.first?.split(separator: "/").first.map(String.init)
                    == device.addresses.first)
            #expect(status.tunnel?.endpoint == "192.0.2.1:51820")
            #expect(status.phase == "HEARTBEAT")
            #expect(status.health.isEmpty)

            try await agent.command("down")
            #expect(try await !agent.namespace.ping(Site.inner, within: 1))
            #expect(try await !agent.namespace.run("ip", "link", "show", "nexusguard0").succeeded)
            try await agent.command("up", "--timeout", "250")
            #expect(try await agent.namespace.ping(Site.inner))
            try await agent.stop()
            #expect(try await !agent.namespace.run("ip", "link", "show", "nexusguard0").succeeded)
        }
    }

    @Test("new keys for one device leave the session of another as it is")
    func rotation() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let first = try await site.connectedAgent(1)
            let second = try await site.connectedAgent(2)
            for agent in [first, second] {
                #expect(try await agent.namespace.ping(Site.inner))
                try await agent.waitFor("a heartbeat is accepted") { $0.lastHeartbeat != nil }
            }
            let keys = try await site.control.device(first.name).keys.map(\.public_key)
            let otherKeys = try await site.control.device(second.name).keys.map(\.public_key)
            let session = try await second.status()
            async let answers = second.namespace.answers(to: 100, from: Site.inner, every: 0.05)
            for round in 2...3 {
                try await site.control.command("rotate-keys", first.name)
                try await Shell.eventually("the device uses its new keys alone") {
                    let keys = try await site.control.device(first.name).keys
                    return keys.count == 1 && keys[0].generation == round && keys[0].state == "current"
                }
                #expect(try await first.namespace.ping(Site.inner))
            }
            let newKeys = try await site.control.device(first.name).keys.map(\.public_key)
            #expect(Set(newKeys).isDisjoint(with: keys))
            #expect(try await site.control.device(second.name).keys.map(\.public_key) == otherKeys)
            #expect(try await answers == 100, "the other device lost packets")
            let after = try await second.status()
            #expect(after.tunnel?.continues(session.tunnel) == true)
            #expect(after.counters.rebuilds == 0)
            #expect(after.counters.tunnelStarts == 1)
            let status = try await first.waitUntilConnected()
            #expect(status.counters.tunnelStarts == 1)
            #expect(status.counters.rebuilds == 2)
            #expect(status.counters.rollbacks == 0)
            #expect(Set(try await site.control.devices().map(\.id)).count == 2)
        }
    }

    @Test("forwards come and go without a change to the tunnel")
    func forwards() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.connectedAgent()
            let before = try await agent.waitForHeartbeat()
            try await site.control.command("forward", "add", agent.name, "tcp", "8080", "80")
            try await site.control.command("forward", "add", agent.name, "udp", "5353", "10.172.21.2:53")
            try await agent.waitFor("the forwards are known") { $0.forwardCount == 2 }
            let shown = try await agent.command("--color", "never", "forwards").standardOutput
            #expect(shown.contains("TCP :8080") && shown.contains("UDP :5353"))
            try await site.control.command("forward", "rm", "tcp", "8080")
            try await agent.waitFor("one forward is left") { $0.forwardCount == 1 }
            let after = try await agent.status()
            #expect(after.tunnel?.continues(before.tunnel) == true)
            #expect(after.counters.rebuilds == before.counters.rebuilds)
        }
    }

    @Test("the other end moves to another port, and the tunnel follows with the next heartbeat")
    func movedEndpoint() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.connectedAgent()
            try await agent.waitForHeartbeat()
            try await site.control.stop()
            try await site.namespace.ip("address add 192.0.2.200/32 dev lo")
            try await site.control.start(endpoint: "192.0.2.200:41194")
            try await agent.waitFor("the endpoint is the new one") {
                $0.tunnel?.endpoint == "192.0.2.200:41194"
            }
            #expect(try await agent.namespace.ping(Site.inner))
            let status = try await agent.waitUntilConnected()
            #expect(status.counters.tunnelStarts == 1)
        }
    }

    @Test("with the server out of reach the tunnel is up from what is stored, and contact is made later")
    func startWithoutServer() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.connectedAgent()
            try await agent.waitForHeartbeat()
            try await agent.kill()
            try await site.blockControl()
            let taken = try await agent.launchUntilTunnelCarries()
            print("from the start of the agent to the first answer without a control server: \(taken)")
            let status = try await agent.waitUntilConnected()
            #expect(status.counters.heartbeatsAccepted == 0)
            try await agent.waitFor("the absence of the server shows") {
                $0.codes.contains("heartbeat-failed") && $0.state == "connected"
            }
            try await site.namespace.bash("nft delete table inet block")
            _ = try await agent.run("refresh")
            try await agent.waitFor("there is contact") {
                $0.counters.heartbeatsAccepted > 0 && $0.health.isEmpty
            }
            #expect(try await site.control.devices().count == 1)
        }
    }

    @Test("a link that goes away and comes back carries the tunnel again")
    func linkFlap() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.connectedAgent()
            #expect(try await agent.namespace.ping(Site.inner))
            for _ in 1...2 {
                try await agent.namespace.ip("link set uplink down")
                try await agent.waitFor("the agent sees that it is offline") { $0.phase == "OFFLINE" }
                try await agent.namespace.ip("link set uplink up")
                try await agent.namespace.ip("route add default via 192.0.2.1")
                try await agent.waitUntilConnected()
                #expect(try await agent.namespace.ping(Site.inner))
            }
            #expect(try await agent.status().counters.tunnelStarts == 1)
        }
    }
}
