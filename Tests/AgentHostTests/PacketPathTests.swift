// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import Harness
import NexusGuard
import Synchronization
import Testing

@testable import AgentHost

@Suite(
    "host's network: the ways of packets",
    .enabled(if: HostTestNamespace.isAvailable, "network namespaces need root"))
struct PacketPathTests {
    @Test("in a full tunnel packets go in, marked ones go out beside it, and IPv6 goes nowhere")
    func fullTunnel() async throws {
        try await withHost { host, journal in
            try withTunnel(on: host, journal) { tunnel in
                // Frames to a router that does not answer would wait for its hardware address.
                try HostTestNamespace.ip("neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev up0 nud permanent")
                try HostTestNamespace.ip(
                    "neigh add 2001:db8::1 lladdr 02:00:00:00:00:01 dev up0 nud permanent")
                try HostTestNamespace.ip("neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 dev up0 nud permanent")
                let uplink = try HostTestCapture("up1")
                #expect(try HostTestPacket.send(to: "2001:db8:9::9") == 0)
                try HostTestNamespace.eventually("IPv6 works without the tunnel") {
                    uplink.packets().contains { $0.destination == "2001:db8:9::9" }
                }
                try host.apply(samplePlan())

                #expect(try HostTestPacket.send(to: "198.51.100.9") == 0)
                #expect(tunnel.packets().map(\.destination) == ["198.51.100.9"])
                #expect(try HostTestPacket.send(to: "198.51.100.10", mark: FirewallMark.value) == 0)
                // To the host's own network beside the tunnel, as without it.
                #expect(try HostTestPacket.send(to: "192.0.2.9") == 0)
                let refusal = try HostTestPacket.send(to: "2001:db8:9::9")
                #expect([ENETUNREACH, EHOSTUNREACH].contains(refusal))
                var seen: [String] = []
                try HostTestNamespace.eventually("both packets leave by the uplink") {
                    seen += uplink.packets().compactMap(\.destination)
                    return seen.contains("198.51.100.10") && seen.contains("192.0.2.9")
                }
                #expect(!seen.contains("198.51.100.9"))
                #expect(!seen.contains("2001:db8:9::9"))
                #expect(tunnel.packets().isEmpty)
            }
        }
    }

    @Test("with a strict reverse-path filter answers to marked packets arrive", arguments: [true, false])
    func strictFilter(hasMarks: Bool) async throws {
        try await withHost { host, journal in
            try HostTestNamespace.ip("neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev up0 nud permanent")
            try HostTestNamespace.tool("sysctl -q net.ipv4.conf.all.rp_filter=1")
            try withTunnel(samplePlan(), on: host, journal) { _ in
                if !hasMarks {
                    // As in a kernel without nf_tables. The repair would put the table back.
                    host.state.withLock { $0.monitor = nil }
                    try HostTestNamespace.tool("nft delete table inet nexusguard-route")
                }
                let socket = try MarkedSocket(port: 5_555)
                try socket.send(to: "198.51.100.7", port: 51_820)
                try Self.inject(from: "198.51.100.7", port: 51_820, to: "192.0.2.2", port: 5_555)
                #expect(socket.receives(withinMilliseconds: hasMarks ? 30_000 : 500) == hasMarks)
            }
        }
    }

    @Test("strangers can not reach the tunnel's address by the uplink")
    func strangers() async throws {
        try await withHost { host, journal in
            try withTunnel(samplePlan(), on: host, journal) { tunnel in
                let socket = try MarkedSocket(port: 5_555)
                try Self.inject(from: "192.0.2.99", port: 1_000, to: "192.0.2.2", port: 5_555)
                #expect(socket.receives(withinMilliseconds: 30_000))
                try Self.inject(from: "192.0.2.99", port: 1_000, to: "10.172.21.2", port: 5_555)
                #expect(!socket.receives(withinMilliseconds: 500))
                // By the tunnel it is reached.
                #expect(tunnel.send(Self.datagram(from: "198.51.100.7", 1_000, to: "10.172.21.2", 5_555)))
                #expect(socket.receives(withinMilliseconds: 30_000))
            }
        }
    }

    @Test("without nf_tables a strict reverse-path filter becomes a loose one, and strict again")
    func looseFilter() async throws {
        try await withHost { host, journal in
            try HostTestNamespace.tool("sysctl -q net.ipv4.conf.all.rp_filter=1")
            try withTunnel(on: host, journal) { _ in
                host.state.withLock { $0.canMarkPackets = false }
                try host.apply(samplePlan())
                #expect(try HostTestNamespace.tool("sysctl -n net.ipv4.conf.all.rp_filter") == "2\n")
                #expect(try HostTestNamespace.tool("nft list ruleset") == "")
                try host.apply(samplePlan(allowedIPs: ["0.0.0.0/0", "10.7.0.0/16"]))
                #expect(try HostTestNamespace.tool("sysctl -n net.ipv4.conf.all.rp_filter") == "2\n")
            }
        }
    }

    static let withoutIPv6 = [
        ["net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1"],
        ["net.ipv6.conf.default.disable_ipv6=1"],
    ]

    @Test("a host that has IPv6 turned off gets the tunnel without it, and no leak", arguments: withoutIPv6)
    func noIPv6(_ settings: [String]) async throws {
        try await withHost { host, journal in
            for setting in settings { try HostTestNamespace.tool("sysctl -q \(setting)") }
            try withTunnel(on: host, journal) { tunnel in
                let capabilities = try host.capabilities(ofInterface: "ng0")
                #expect(capabilities == HostCapabilities(routesIPv6: true, interfaceTakesIPv6: false))
                try host.apply(
                    samplePlan(
                        addresses: ["10.172.21.2/32", "fd00::2/64"], allowedIPs: ["0.0.0.0/0", "::/0"],
                        capabilities: capabilities))
                #expect(host.problems.count == 2)
                #expect(try HostTestPacket.send(to: "198.51.100.9") == 0)
                #expect(tunnel.packets().map(\.destination) == ["198.51.100.9"])
                #expect(try HostTestPacket.send(to: "2001:db8:9::9") != 0)
            }
        }
    }

    /// A UDP socket as the engine's: bound to a port, and marked.
    private final class MarkedSocket: Sendable {
        let descriptor: Int32

        init(port: UInt16) throws {
            descriptor = socket(AF_INET, linux_datagram_socket_type, 0)
            var mark = FirewallMark.value
            setsockopt(descriptor, SOL_SOCKET, linux_so_mark, &mark, socklen_t(MemoryLayout<UInt32>.size))
            let result = HostTestPacket.withAddress("0.0.0.0", port) { bind(descriptor, $0, $1) }
            guard descriptor >= 0, result == 0 else {
                throw HostTestNamespace.ToolFailure(line: "bind", output: "errno \(errno)")
            }
        }

        deinit {
            close(descriptor)
        }

        func send(to address: String, port: UInt16) throws {
            let result = HostTestPacket.withAddress(address, port) {
                sendto(descriptor, "question", 8, 0, $0, $1)
            }
            guard result == 8 else {
                throw HostTestNamespace.ToolFailure(line: "sendto", output: "errno \(errno)")
            }
        }

        func receives(withinMilliseconds limit: Int32) -> Bool {
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&polled, 1, limit) == 1 else { return false }
            var buffer = [UInt8](repeating: 0, count: 100)
            return recv(descriptor, &buffer, buffer.count, 0) > 0
        }
    }

    /// Has a datagram of somebody else arrive at `up0`.
    private static func inject(
        from source: String, port: UInt16, to destination: String, port destinationPort: UInt16
    ) throws {
        // A frame that leaves `up1` arrives at `up0`, at the far end of the cable.
        let link = try HostTestNamespace.ip("-o link show dev up0").split(separator: " ")
        let index = try #require(link.firstIndex(of: "link/ether"))
        let address = link[index + 1].split(separator: ":").compactMap { UInt8($0, radix: 16) }
        let frame =
            address + [2, 0, 0, 0, 0, 1, 8, 0]
            + datagram(from: source, port, to: destination, destinationPort)
        let descriptor = socket(17, linux_netlink_blocking_socket_type, 0)
        defer { close(descriptor) }
        var name = [UInt8](repeating: 0, count: 20)
        withUnsafeBytes(of: UInt16(17)) { name.replaceSubrange(0..<2, with: $0) }
        withUnsafeBytes(of: if_nametoindex("up1")) { name.replaceSubrange(4..<8, with: $0) }
        let sent = name.withUnsafeBytes { bytes in
            sendto(
                descriptor, frame, frame.count, 0, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                socklen_t(bytes.count))
        }
        #expect(sent == frame.count)
    }

    /// An IPv4 packet with a UDP datagram of five bytes, without the optional checksum of UDP (RFC 768).
    private static func datagram(
        from source: String, _ port: UInt16, to destination: String, _ destinationPort: UInt16
    ) -> [UInt8] {
        func big(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 0xff), UInt8(number & 0xff)] }
        func bytes(_ address: String) -> [UInt8] { address.split(separator: ".").compactMap { UInt8($0) } }
        let addresses = bytes(source) + bytes(destination)
        var header: [UInt8] = [0x45, 0] + big(33) + [0, 0, 0, 0, 64, 17] + big(0) + addresses
        var sum = 0
        for index in stride(from: 0, to: 20, by: 2) {
            sum += Int(header[index]) << 8 | Int(header[index + 1])
        }
        while sum > 0xffff { sum = sum >> 16 + sum & 0xffff }
        header.replaceSubrange(10..<12, with: big(~sum & 0xffff))
        return header + big(Int(port)) + big(Int(destinationPort)) + big(13) + big(0) + Array("hello".utf8)
    }
}
