// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import NexusGuard

/// Two tunnels of this process that know each other, over UDP on loopback.
///
/// A has 10.7.0.1 and starts handshakes; B has 10.7.0.2 and learns where A is.
struct TunnelTestPair {
    static let addressA: UInt32 = 0x0A07_0001
    static let addressB: UInt32 = 0x0A07_0002

    let keyA = PrivateKey()
    let keyB = PrivateKey()
    let interfaceA: TunnelTestInterface
    let interfaceB: TunnelTestInterface
    let tunnelA: Tunnel
    let tunnelB: Tunnel
    let configurationA: TunnelConfiguration

    /// Starts both.
    init(optionsA: TunnelOptions = TunnelOptions()) throws {
        interfaceA = try TunnelTestInterface(name: "test-a")
        interfaceB = try TunnelTestInterface(name: "test-b")
        let peerA = PeerConfiguration(publicKey: keyA.publicKey, allowedIPs: [try IPPrefix("10.7.0.1")])
        tunnelB = Tunnel(
            interface: interfaceB, configuration: TunnelConfiguration(privateKey: keyB, peers: [peerA]))
        try tunnelB.start()
        let peerB = PeerConfiguration(
            publicKey: keyB.publicKey, allowedIPs: [try IPPrefix("10.7.0.2")],
            endpoint: try Endpoint("127.0.0.1:\(tunnelB.statistics.listenPort)"))
        configurationA = TunnelConfiguration(privateKey: keyA, peers: [peerB])
        tunnelA = Tunnel(interface: interfaceA, configuration: configurationA, options: optionsA)
        try tunnelA.start()
    }

    /// Sends packets from A to B, and says whether just those arrive, in order.
    func crossesToB(_ numbers: Range<Int>) -> Bool {
        let packets = numbers.map {
            testPacket(from: Self.addressA, to: Self.addressB, number: $0, bodyByteCount: $0 % 1300)
        }
        interfaceA.send(packets)
        return interfaceB.take(packets.count) == packets
    }

    /// Sends packets from B to A, and says whether just those arrive, in order.
    func crossesToA(_ numbers: Range<Int>) -> Bool {
        let packets = numbers.map {
            testPacket(from: Self.addressB, to: Self.addressA, number: $0, bodyByteCount: $0 % 1300)
        }
        interfaceB.send(packets)
        return interfaceA.take(packets.count) == packets
    }

    /// Stops both.
    func stop() {
        tunnelA.stop()
        tunnelB.stop()
    }
}

/// A UDP socket that holds a port of all addresses.
final class TunnelTestPort {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        descriptor = try SystemCall.run("socket") { socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        SystemCall.close(descriptor)
    }
}
