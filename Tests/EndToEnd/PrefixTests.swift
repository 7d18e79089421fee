// SPDX-License-Identifier: MIT

internal import Foundation
internal import Harness
internal import Testing

@Suite("Allowed IPs and peers in bulk", .enabled(if: Machine.isReady, Machine.skipReason))
struct PrefixTests {
    @Test("130,561 prefixes on one peer are set and read back")
    func manyPrefixes() async throws {
        try await Lab.with { lab in
            let daemon = try await Daemon(.tested, in: try await lab.namespace(), lab)
            let peer = try await lab.keyPair().publicKey
            var prefixes = ["192.168.0.0/16"]
            for high in 1...255 {
                for low in 0...255 {
                    prefixes.append("10.\(high).\(low).0/24")
                    prefixes.append(
                        "fd\(String(high, radix: 16).leftPadded(2)):\(String(low, radix: 16))::/32")
                }
            }
            #expect(prefixes.count == 130_561)
            var text = "[Peer]\nPublicKey = \(peer)\n"
            for prefix in prefixes { text += "AllowedIPs = \(prefix)\n" }
            let path = try lab.file("many.conf", text)
            try await daemon.wg("addconf \(daemon.interface) \(path)")
            let words = try await daemon.wg("show \(daemon.interface) allowed-ips").text
                .split(whereSeparator: \.isWhitespace).dropFirst()
            #expect(words.count == prefixes.count)
            // The tools write a group of zeros as they like: compare with the zeros stripped alike.
            #expect(Set(words.map(String.init)) == Set(prefixes.map(Self.canonical)))
            try await daemon.wg("set \(daemon.interface) peer \(peer) remove")
            #expect(try await daemon.wg("show \(daemon.interface) allowed-ips").text.isEmpty)
        }
    }

    @Test("40 peers with 52 prefixes each are set and read back")
    func manyPeers() async throws {
        try await Lab.with { lab in
            let daemon = try await Daemon(.tested, in: try await lab.namespace(), lab)
            var text = ""
            var expected: [String: Set<String>] = [:]
            for number in 1...40 {
                let bytes = [UInt8](repeating: UInt8(number), count: 31) + [UInt8(number)]
                let key = Data(bytes).base64EncodedString()
                let prefixes = (1...26).flatMap {
                    ["10.\(number).\($0).0/24", "fd0\(number % 10):\(number):\($0)::/48"]
                }
                expected[key] = Set(prefixes.map(Self.canonical))
                text += "[Peer]\nPublicKey = \(key)\nAllowedIPs = \(prefixes.joined(separator: ","))\n"
            }
            let path = try lab.file("peers.conf", text)
            try await daemon.wg("setconf \(daemon.interface) \(path)")
            var read: [String: Set<String>] = [:]
            for line in try await daemon.wg("show \(daemon.interface) allowed-ips").lines {
                let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
                read[words.first ?? ""] = Set(words.dropFirst())
            }
            #expect(read.count == 40)
            #expect(read == expected)
        }
    }

    @Test("a packet whose source is not among the sender's allowed IPs is not delivered")
    func wrongSource() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let (left, right) = (pair.left, pair.right)
            let stranger = try await lab.keyPair().publicKey
            try await left.namespace.ip("address add 10.77.0.55/32 dev \(left.daemon.interface)")
            let delivered = try await Counter(in: right.namespace, "prerouting", "ip saddr 10.77.0.55")
            #expect(try await left.namespace.ping(right.inner4))
            // Nobody's source.
            #expect(try await !left.namespace.ping(right.inner4, within: 1, "-I", "10.77.0.55"))
            #expect(try await delivered.packets() == 0)
            // A source within the sender's prefix, but within another peer's longer one too.
            let set = "set \(right.daemon.interface) peer"
            try await right.daemon.wg("\(set) \(stranger) allowed-ips 10.77.0.55/32")
            try await right.daemon.wg("\(set) \(left.publicKey) allowed-ips 10.77.0.0/24")
            #expect(try await !left.namespace.ping(right.inner4, within: 1, "-I", "10.77.0.55"))
            #expect(try await delivered.packets() == 0)
            // With the longer prefix gone it is the sender's.
            try await right.daemon.wg("\(set) \(stranger) remove")
            #expect(try await left.namespace.ping(right.inner4, "-I", "10.77.0.55"))
            #expect(try await delivered.packets() > 0)
        }
    }

    @Test("a peer with a public key of low order never gets an initiation")
    func lowOrderKeys() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let (left, right) = (pair.left, pair.right)
            let sent = try await Counter(in: left.namespace, "output", "udp dport 4001")
            for (number, point) in Self.lowOrderPoints.enumerated() {
                let key = Data(point).base64EncodedString()
                let subnet = "10.88.\(number)"
                _ = try await left.daemon.tryWg(
                    "set \(left.daemon.interface) peer \(key) endpoint \(right.outer4):4001"
                        + " persistent-keepalive 1 allowed-ips \(subnet).0/24")
                try await left.namespace.ip("route add \(subnet).0/24 dev \(left.daemon.interface)")
                #expect(try await !left.namespace.ping("\(subnet).1", within: 1))
            }
            #expect(try await sent.packets() == 0)
            #expect(try await left.namespace.ping(right.inner4))
        }
    }

    /// An address as `wg` prints it, for those that these tests write.
    private static func canonical(_ prefix: String) -> String {
        prefix.replacingOccurrences(of: ":0::", with: "::")
    }

    /// The points of small order on Curve25519 and on its twist, in their canonical and other encodings.
    private static let lowOrderPoints: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        [
            0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
            0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
        ],
        [
            0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b,
            0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57,
        ],
        [0xec] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
        [0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
        [0xee] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
    ]
}

extension String {
    /// The string with zeros before it up to `width` characters.
    fileprivate func leftPadded(_ width: Int) -> String {
        String(repeating: "0", count: max(0, width - count)) + self
    }
}
