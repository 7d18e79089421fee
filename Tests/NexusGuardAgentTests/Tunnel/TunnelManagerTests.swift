// SPDX-License-Identifier: MIT

import AgentCore
import AgentHost
import FoundationEssentials
import NexusGuard
import NexusGuardAgent
import Testing

@Suite("tunnel manager", .enabled(if: TunnelLab.isAvailable, "network namespaces need root"))
struct TunnelManagerTests {
    @Test("a full tunnel carries traffic, tells of itself, and leaves nothing behind")
    func upAndDown() async throws {
        let lab = try await TunnelLab()
        let (manager, journal) = try await lab.makeManager()
        let before = try await lab.picture()
        #expect(!manager.isTunnelUp())
        #expect(manager.info() == nil)

        try await manager.startTunnel(config: lab.config())
        #expect(manager.isTunnelUp())
        #expect(try await lab.pings("203.0.113.5"))
        let handshake = try #require(manager.getLastHandshake())
        #expect(abs(handshake.timeIntervalSinceNow) < 300)
        let info = try #require(manager.info())
        #expect(info.interface == "nexusguard0")
        #expect(info.addresses == ["10.172.21.2/32"])
        #expect(info.allowedIPs == ["0.0.0.0/0"])
        #expect(info.endpoint == "192.0.2.1:51820")
        #expect(info.mtu == 1_420)
        #expect(info.receivedByteCount > 0 && info.sentByteCount > 0)

        await manager.stopTunnel()
        #expect(!manager.isTunnelUp())
        #expect(manager.getLastHandshake() == nil)
        try await lab.expect(before)
        #expect(journal.bytes == nil)
        await lab.close()
    }

    @Test("without keepalives the first handshake starts all the same")
    func noKeepalive() async throws {
        let lab = try await TunnelLab()
        let (manager, _) = try await lab.makeManager()
        try await manager.startTunnel(config: lab.config(keepalive: 0))
        try await lab.eventually("a handshake") { manager.getLastHandshake() != nil }
        await manager.stopTunnel()
        await lab.close()
    }

    @Test("a change of routes and addresses keeps the session")
    func inPlace() async throws {
        let lab = try await TunnelLab()
        let (manager, _) = try await lab.makeManager()
        try await manager.startTunnel(config: lab.config(allowedIPs: ["10.172.21.0/24"]))
        #expect(try await lab.pings("10.172.21.1"))
        let sessions = try await Self.handshakes(lab)
        let changed = try lab.config(
            addresses: ["10.172.21.3/32", "fd00:21::2/64"], allowedIPs: ["0.0.0.0/0", "::/0"])
        #expect(try await manager.apply(changed) == .host)
        #expect(try await lab.pings("203.0.113.5"))
        #expect(try await lab.pings("fd00:21::1"))
        #expect(manager.info()?.addresses == ["10.172.21.3/32", "fd00:21::2/64"])
        #expect(lab.isRenewedOnlyForAge(sessions, try await Self.handshakes(lab)))

        #expect(try await manager.apply(lab.config(keepalive: 21)) == .host)
        #expect(try await manager.apply(lab.config(keepalive: 22)) == .peer)
        #expect(try await manager.apply(lab.config(keepalive: 22)) == ConfigDifference.none)
        #expect(try await lab.pings("203.0.113.5"))
        #expect(lab.isRenewedOnlyForAge(sessions, try await Self.handshakes(lab)))
        await manager.stopTunnel()
        await lab.close()
    }

    @Test("another key of the device makes a new session on the same interface")
    func identity() async throws {
        let lab = try await TunnelLab()
        let (manager, _) = try await lab.makeManager()
        try await manager.startTunnel(config: lab.config())
        #expect(try await lab.pings("203.0.113.5"))
        let index = try await Self.interfaceIndex(lab)
        let key = PrivateKey()
        let (tunnel, server) = (lab.serverTunnel, lab.serverKey)
        try await TunnelLab.on(lab.server) {
            try tunnel.update(
                TunnelConfiguration(
                    privateKey: server, listenPort: 51_820, peers: [TunnelLab.peer(of: key.publicKey)]))
        }
        #expect(try await manager.apply(lab.config(key: key)) == .identity)
        #expect(try await lab.pings("203.0.113.5"))
        #expect(try await Self.interfaceIndex(lab) == index)
        await manager.stopTunnel()
        await lab.close()
    }

    @Test("a configuration that the host refuses leaves the former one at work")
    func rollback() async throws {
        let lab = try await TunnelLab()
        let (manager, journal) = try await lab.makeManager()
        try await manager.startTunnel(config: lab.config())
        #expect(try await lab.pings("203.0.113.5"))
        let (picture, entries) = (try await lab.picture(), journal.bytes)
        // The kernel gives no interface a multicast address.
        let refused = try lab.config(
            addresses: ["10.172.21.3/32", "ff02::77/128"], allowedIPs: ["10.172.21.0/24", "::/0"])
        await #expect(throws: AgentError.self) { _ = try await manager.apply(refused) }
        let after = try await lab.picture()
        #expect(after.split(separator: "\n") == picture.split(separator: "\n"))
        #expect(journal.bytes == entries)
        #expect(manager.info()?.addresses == ["10.172.21.2/32"])
        #expect(try await lab.pings("203.0.113.5"))
        await manager.stopTunnel()
        try await lab.expectNoInterface()

        let before = try await lab.picture()
        await #expect(throws: AgentError.self) { try await manager.startTunnel(config: refused) }
        #expect(!manager.isTunnelUp())
        try await lab.expect(before)
        #expect(journal.bytes == nil)
        await lab.close()
    }

    @Test("an interface that somebody removes is made anew")
    func removedInterface() async throws {
        let lab = try await TunnelLab()
        let (manager, _) = try await lab.makeManager()
        let before = try await lab.picture()
        try await manager.startTunnel(config: lab.config())
        #expect(try await lab.pings("203.0.113.5"))
        let picture = try await lab.atDevice("ip -4 route show table 51821")
        // Peers take two handshakes within a fiftieth of a second for a flood.
        try await Task.sleep(for: .milliseconds(200))
        try await lab.atDevice("ip link del nexusguard0")
        try await lab.eventually("the tunnel is back") {
            try await lab.atDevice("ip -4 route show table 51821") == picture && manager.isTunnelUp()
        }
        #expect(try await lab.pings("203.0.113.5"))
        await manager.stopTunnel()
        try await lab.expect(before)
        await lab.close()
    }

    @Test("after a change of the network the server hears at once from the new address")
    func networkChange() async throws {
        let lab = try await TunnelLab()
        let (manager, _) = try await lab.makeManager()
        try await manager.startTunnel(config: lab.config())
        #expect(try await lab.pings("203.0.113.5"))
        try await lab.atDevice("ip addr del 192.0.2.2/24 dev up0")
        try await lab.atDevice("ip addr add 192.0.2.9/24 dev up0")
        try await lab.atDevice("ip route add default via 192.0.2.1")
        await manager.networkChanged()
        let (tunnel, key) = (lab.serverTunnel, lab.deviceKey.publicKey)
        try await lab.eventually("the server knows the new address") {
            tunnel.statistics.peers[key]?.endpoint?.address == (try IPAddress("192.0.2.9"))
        }
        #expect(try await lab.pings("203.0.113.5"))
        await manager.stopTunnel()
        await lab.close()
    }

    @Test("a start on a tunnel that is up changes it, and a change of one that is down is refused")
    func order() async throws {
        let lab = try await TunnelLab()
        let (manager, _) = try await lab.makeManager()
        await #expect(throws: AgentError.self) { _ = try await manager.apply(lab.config()) }
        try await manager.startTunnel(config: lab.config())
        try await manager.startTunnel(config: lab.config(allowedIPs: ["10.172.21.0/24"]))
        #expect(manager.info()?.allowedIPs == ["10.172.21.0/24"])
        await manager.networkChanged()
        await manager.stopTunnel()
        await manager.stopTunnel()
        await manager.networkChanged()
        #expect(!manager.isTunnelUp())
        await lab.close()
    }

    /// The number of the tunnel's interface.
    private static func interfaceIndex(_ lab: TunnelLab) async throws -> Substring {
        try await lab.atDevice("ip -o link show dev nexusguard0").prefix { $0 != ":" }
    }

    /// The time of the server's last handshake with the device.
    private static func handshakes(_ lab: TunnelLab) async throws -> Duration {
        try #require(lab.serverTunnel.statistics.peers[lab.deviceKey.publicKey]?.latestHandshake)
    }
}
