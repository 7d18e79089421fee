// SPDX-License-Identifier: MIT

import Testing
import WireGuardConfiguration
import WireGuardCrypto
import WireGuardProtocol

@Suite("UAPI get writer")
struct UAPIGetWriterTests {
    private let zeros = String(repeating: "0", count: 64)

    @Test("a device without key, port, mark and peers has no lines")
    func nothing() {
        #expect(Samples.text(UAPIGetWriter.write(DeviceSnapshot())) == "")
    }

    @Test("lines come in the order and form of wireguard-go")
    func order() throws {
        var first = PeerSnapshot(publicKey: try PublicKey(hexadecimal: Samples.hexA))
        first.presharedKey = try PresharedKey(hexadecimal: Samples.hexPreshared)
        first.endpoint = SocketAddress(address: try IPAddress("2001:db8::1"), port: 51820)
        first.persistentKeepalive = 25
        first.allowedIPs = [try IPPrefix("10.0.0.0/8"), try IPPrefix("::/0")]
        first.latestHandshake = WallTime(seconds: 1_700_000_000, nanoseconds: 12_345)
        first.receivedByteCount = 18_446_744_073_709_551_615
        first.sentByteCount = 7
        let second = PeerSnapshot(publicKey: try PublicKey(hexadecimal: Samples.hexB))
        let key = try PrivateKey(hexadecimal: Samples.hexSecret)
        let snapshot = DeviceSnapshot(
            privateKey: key, listenPort: 51820, firewallMark: 51, peers: [first, second])
        #expect(
            Samples.text(UAPIGetWriter.write(snapshot)) == """
                private_key=\(key.hexadecimal)
                listen_port=51820
                fwmark=51
                public_key=\(Samples.hexA)
                preshared_key=\(Samples.hexPreshared)
                protocol_version=1
                endpoint=[2001:db8::1]:51820
                last_handshake_time_sec=1700000000
                last_handshake_time_nsec=12345
                tx_bytes=7
                rx_bytes=18446744073709551615
                persistent_keepalive_interval=25
                allowed_ip=10.0.0.0/8
                allowed_ip=::/0
                public_key=\(Samples.hexB)
                preshared_key=\(zeros)
                protocol_version=1
                last_handshake_time_sec=0
                last_handshake_time_nsec=0
                tx_bytes=0
                rx_bytes=0
                persistent_keepalive_interval=0

                """)
    }

    @Test("the zone of an endpoint is a name if there is one, otherwise the number")
    func zones() throws {
        var peer = PeerSnapshot(publicKey: try PublicKey(hexadecimal: Samples.hexA))
        for (scope, expected) in [(2, "[fe80::1%eth0]:1"), (9, "[fe80::1%9]:1"), (0, "[fe80::1]:1")] {
            peer.endpoint = SocketAddress(
                address: try IPAddress("fe80::1"), port: 1, scopeIdentifier: UInt32(scope))
            let text = Samples.text(
                UAPIGetWriter.write(DeviceSnapshot(peers: [peer]), zoneName: { $0 == 2 ? "eth0" : nil }))
            #expect(text.contains("\nendpoint=\(expected)\n"))
        }
    }

    @Test("the answer ends with the status and an empty line")
    func status() {
        #expect(Samples.text(UAPIReply.text(.success)) == "errno=0\n\n")
        #expect(Samples.text(UAPIReply.text(.invalid)) == "errno=-22\n\n")
        #expect(Samples.text(UAPIReply.text(UAPIStatus(errno: 98))) == "errno=-98\n\n")
    }

    @Test("24,000 peers, and one peer with 130,561 prefixes, are written in full")
    func veryMany() throws {
        let key = try PublicKey(hexadecimal: Samples.hexA)
        var snapshot = DeviceSnapshot(peers: Array(repeating: PeerSnapshot(publicKey: key), count: 24_000))
        let many = Samples.text(UAPIGetWriter.write(snapshot))
        let one = Samples.text(UAPIGetWriter.write(DeviceSnapshot(peers: [snapshot.peers[0]])))
        #expect(many.utf8.count == 24_000 * one.utf8.count)

        var peer = PeerSnapshot(publicKey: key)
        peer.allowedIPs = (0..<130_561).compactMap {
            IPPrefix(address: IPAddress(ipv4: 0x0A00_0000 + UInt32($0)), length: 32)
        }
        snapshot.peers = [peer]
        let read = try Samples.parse(
            Samples.text(UAPIGetWriter.write(snapshot)).split(separator: "\n")
                .filter { $0.hasPrefix("public_key") || $0.hasPrefix("allowed_ip") }.joined(separator: "\n"))
        #expect(read.peers[0].allowedIPs.map(\.prefix) == peer.allowedIPs)
    }

    @Test("what is set is got back, for random peers", arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func roundTrip(seed: UInt64) throws {
        var generator = Samples.Generator(seed: seed)
        for _ in 0..<50 {
            var peer = PeerSnapshot(publicKey: try PublicKey(rawRepresentation: generator.bytes(32)))
            if Bool.random(using: &generator) {
                peer.presharedKey = try PresharedKey(rawRepresentation: generator.bytes(32).span.bytes)
            }
            peer.persistentKeepalive = UInt16.random(in: 0...65535, using: &generator)
            peer.allowedIPs = (0..<Int.random(in: 0..<5, using: &generator)).map { _ in generator.prefix() }
            if Bool.random(using: &generator) {
                let address = generator.prefix().address
                peer.endpoint = SocketAddress(
                    address: address, port: UInt16.random(in: 0...65535, using: &generator),
                    scopeIdentifier: address.isIPv6 ? UInt32.random(in: 0...9, using: &generator) : 0)
            }
            let lines = Samples.text(UAPIGetWriter.write(DeviceSnapshot(peers: [peer]))).split(
                separator: "\n")
            // The counters and times of a get are no keys of a set.
            let settable = lines.filter {
                !$0.hasPrefix("last_handshake") && !$0.hasPrefix("tx_bytes") && !$0.hasPrefix("rx_bytes")
            }
            let read = try Samples.parse(settable.joined(separator: "\n")).peers[0]
            #expect(read.publicKey == peer.publicKey, "seed \(seed)")
            #expect(read.endpoint == peer.endpoint, "seed \(seed)")
            #expect(read.persistentKeepalive == peer.persistentKeepalive, "seed \(seed)")
            #expect(read.allowedIPs.map(\.prefix) == peer.allowedIPs, "seed \(seed)")
            if let presharedKey = peer.presharedKey {
                #expect(read.presharedKey?.isEqual(to: presharedKey) == true, "seed \(seed)")
            } else {
                #expect(read.presharedKey?.isZero == true, "seed \(seed)")
            }
        }
    }
}
