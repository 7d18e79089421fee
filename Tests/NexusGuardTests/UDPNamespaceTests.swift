// SPDX-License-Identifier: MIT

import Glibc
import NexusGuard
import Testing
import WireGuardProtocol

@Suite(
    "UDP transport: in a network namespace",
    .enabled(if: namespaceObstacle == nil, "network namespaces need root"))
struct UDPNamespaceTests {
    @Test("a link smaller than the datagrams: all arrive, and segmentation is given up once")
    func smallLink() throws {
        try inNewNetworkNamespace {
            // 1,280 is the smallest link that IPv6 works on.
            try runTool("ip", "link", "set", "lo", "mtu", "1280")
            for address in [loopback4, loopback6] {
                var source = try openTransport()
                var sink = try openTransport()
                let path = loopbackPath(address, sink.port)
                let datagrams = numberedDatagrams(Array(repeating: 1452, count: 45) + [60])
                let outgoing = datagrams.map { OutgoingDatagram(bytes: $0, path: path) }
                let reports = send(outgoing, by: &source) + send(outgoing, by: &source)
                let received = try receiveAll(&sink, 92)
                #expect(received.map(\.bytes) == datagrams + datagrams)
                #expect(reports.count == 1)
                guard case .segmentationRefused(address, _) = reports.first?.problem else {
                    Issue.record("segmentation was not refused: \(reports)")
                    return
                }
            }
        }
    }

    @Test("a source address that the host loses is dropped, and the datagrams arrive from another one")
    func removedSource() throws {
        try inNewNetworkNamespace {
            try runTool("ip", "address", "add", "192.0.2.1/32", "dev", "lo")
            try runTool("ip", "address", "add", "2001:db8::1/128", "dev", "lo", "nodad")
            var source = try openTransport()
            var sink = try openTransport()
            let locals = [
                (loopback4, IPAddress(ipv4: 0xC000_0201)),
                (loopback6, IPAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 1)),
            ]
            let bytes = [UInt8](repeating: 3, count: 100)
            let outgoing = locals.map {
                OutgoingDatagram(bytes: bytes, path: loopbackPath($0, sink.port, from: $1))
            }
            let reportsBefore = send(outgoing, by: &source)
            let before = try receiveAll(&sink, 2)
            #expect(reportsBefore.isEmpty)
            #expect(Set(before.map(\.path.remote.address)) == Set(locals.map(\.1)))

            try runTool("ip", "address", "del", "192.0.2.1/32", "dev", "lo")
            try runTool("ip", "address", "del", "2001:db8::1/128", "dev", "lo")
            let reportsAfter = send(outgoing, by: &source)
            let after = try receiveAll(&sink, 2)
            #expect(reportsAfter.map(\.problem) == [.sourceRefused, .sourceRefused])
            #expect(Set(after.map(\.path.remote.address)) == [loopback4, loopback6])
        }
    }

    @Test("link-local addresses carry the interface: in the sender's address and in this host's")
    func linkLocal() throws {
        try inNewNetworkNamespace {
            try runTool("ip", "link", "add", "udp0", "type", "veth", "peer", "name", "udp1")
            try runTool("ip", "link", "set", "udp1", "up")
            try runTool("ip", "link", "set", "udp0", "up")
            try runTool("ip", "address", "add", "fe80::77/64", "dev", "udp0", "nodad")
            try awaitRoute(to: "fe80" + String(repeating: "0", count: 26) + "77")
            let address = IPAddress(ipv6High: 0xFE80_0000_0000_0000, low: 0x77)
            let index = if_nametoindex("udp0")
            var source = try openTransport()
            var sink = try openTransport()
            let remote = try EndpointResolver.resolve(Endpoint("[fe80::77%udp0]:\(sink.port)"))
            #expect(remote.scopeIdentifier == index)
            let path = DatagramPath(remote: remote, localAddress: address, interfaceIndex: index)
            let reports = send(
                [OutgoingDatagram(bytes: [UInt8](repeating: 5, count: 60), path: path)], by: &source)
            let received = try receiveAll(&sink, 1)
            #expect(reports.isEmpty)
            let sender = SocketAddress(address: address, port: source.port, scopeIdentifier: index)
            #expect(
                received.map(\.path)
                    == [DatagramPath(remote: sender, localAddress: address, interfaceIndex: index)])
        }
    }

    @Test("without a route a datagram is dropped and its source is kept")
    func noRoute() throws {
        try inNewNetworkNamespace {
            var source = try openTransport()
            let path = loopbackPath(IPAddress(ipv4: 0xC633_6401), 51_820, from: loopback4)
            let reports = send(
                [OutgoingDatagram(bytes: [UInt8](repeating: 5, count: 60), path: path)], by: &source)
            #expect(reports.map(\.problem) == [.dropped(datagramCount: 1, errno: ENETUNREACH)])
        }
    }
}
