// SPDX-License-Identifier: MIT

import AgentCore
import FoundationEssentials
import Glibc
import Harness
import NexusGuard
import NexusGuardAgent
import Testing

@testable import AgentHost

@Suite(
    "tunnel manager: the server's name", .enabled(if: TunnelLab.isAvailable, "network namespaces need root"))
struct TunnelServerTests {
    /// A folder with a file of hosts that the resolver reads.
    private struct Names {
        let folder: String
        let resolver: HostResolver

        init(_ hosts: String) throws {
            var template = Array("/tmp/tunnel-names.XXXXXX".utf8CString)
            guard let path = mkdtemp(&template) else {
                throw TunnelLab.ToolFailure(line: "mkdtemp", output: "errno \(errno)")
            }
            folder = String(cString: path)
            var files = NameFiles()
            files.resolverFile = "\(folder)/resolv.conf"
            files.hostsFile = "\(folder)/hosts"
            resolver = HostResolver(files: files, mark: FirewallMark.value, port: 5_353)
            try write(hosts)
            // A name server that is not there.
            try write("nameserver 127.0.0.1\n", to: "resolv.conf")
        }

        func write(_ hosts: String, to name: String = "hosts") throws {
            let path = "\(folder)/\(name)"
            let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            defer { close(descriptor) }
            let bytes = Array(hosts.utf8)
            guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
                throw TunnelLab.ToolFailure(line: "write \(path)", output: "errno \(errno)")
            }
        }

        func remove() { _ = try? TunnelLab.tool("rm -r \(folder)") }
    }

    @Test("when the server has moved its name is looked up anew and the session goes on")
    func moved() async throws {
        let lab = try await TunnelLab()
        let names = try Names("192.0.2.1 vpn.example.net\n")
        defer { names.remove() }
        let (manager, _) = try await lab.makeManager(resolver: names.resolver)
        try await manager.startTunnel(config: lab.config(endpoint: "vpn.example.net:51820"))
        #expect(try await lab.pings("203.0.113.5"))
        #expect(manager.info()?.endpoint == "192.0.2.1:51820")
        let handshake = try #require(manager.getLastHandshake())

        try await lab.atServer("ip addr add 192.0.2.3/24 dev up1")
        try await lab.atServer("ip addr del 192.0.2.1/24 dev up1")
        try await lab.atServer("ip addr replace 192.0.2.3/24 dev up1")
        try names.write("192.0.2.3 vpn.example.net\n")
        await manager.networkChanged()
        #expect(manager.info()?.endpoint == "192.0.2.3:51820")
        #expect(try await lab.pings("203.0.113.5"))
        let later = try #require(manager.getLastHandshake())
        #expect(lab.isRenewedOnlyForAge(.zero, .seconds(later.timeIntervalSince(handshake))))

        // While nobody answers, the address that is known stays.
        try names.write("")
        await manager.networkChanged()
        #expect(try await lab.pings("203.0.113.5"))
        await manager.stopTunnel()
        await lab.close()
    }

    @Test("of several addresses one that answers is found")
    func severalAddresses() async throws {
        let lab = try await TunnelLab()
        let names = try Names("192.0.2.200 vpn.example.net\n192.0.2.1 vpn.example.net\n")
        defer { names.remove() }
        let (manager, _) = try await lab.makeManager(resolver: names.resolver)
        try await manager.startTunnel(config: lab.config(endpoint: "vpn.example.net:51820"))
        #expect(manager.info()?.endpoint == "192.0.2.200:51820")
        try await lab.eventually("a handshake with the other address") { manager.getLastHandshake() != nil }
        #expect(manager.info()?.endpoint == "192.0.2.1:51820")
        #expect(try await lab.pings("203.0.113.5"))
        await manager.stopTunnel()
        await lab.close()
    }

    @Test("a start without a name server uses the addresses of the last run")
    func remembered() async throws {
        let lab = try await TunnelLab()
        let names = try Names("192.0.2.1 vpn.example.net\n")
        defer { names.remove() }
        let file = "\(names.folder)/endpoint"
        let config = try lab.config(endpoint: "vpn.example.net:51820")
        let (first, _) = try await lab.makeManager(resolver: names.resolver, endpointFile: file)
        try await first.startTunnel(config: config)
        #expect(try await lab.pings("203.0.113.5"))
        await first.stopTunnel()
        try await lab.expectNoInterface()
        try names.write("")
        // Peers take two handshakes within a fiftieth of a second for a flood.
        try await Task.sleep(for: .milliseconds(200))
        let (second, _) = try await lab.makeManager(resolver: names.resolver, endpointFile: file)
        try await second.startTunnel(config: config)
        #expect(try await lab.pings("203.0.113.5"))
        await second.stopTunnel()
        try await lab.expectNoInterface()

        // The system's resolver, which comes last, then fails at once.
        try await lab.atDevice("ip route del default")
        let (third, _) = try await lab.makeManager(resolver: names.resolver)
        await #expect(throws: AgentError.self) { try await third.startTunnel(config: config) }
        let other = try lab.config(endpoint: "other.example.net:51820")
        await #expect(throws: AgentError.self) { try await second.startTunnel(config: other) }
        #expect(!second.isTunnelUp() && !third.isTunnelUp())
        await lab.close()
    }

    @Test("with a strict reverse-path filter the tunnel works all the same")
    func strictFilter() async throws {
        let lab = try await TunnelLab()
        try await lab.atDevice("sysctl -q net.ipv4.conf.all.rp_filter=1")
        let (manager, _) = try await lab.makeManager()
        try await manager.startTunnel(config: lab.config())
        #expect(try await lab.pings("203.0.113.5"))
        await manager.stopTunnel()
        await lab.close()
    }
}
