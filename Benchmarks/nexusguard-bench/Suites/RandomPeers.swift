// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

/// Peers for configurations of any size.
enum RandomPeers {
    /// Random bytes as a public key; nobody knows its private key.
    static func publicKey(_ random: SeededRandom) -> PublicKey {
        SecretKey(randomFrom: random).withBytes { PublicKey(unchecked: $0) }
    }

    /// The lines of a set operation of the userspace interface for so many peers.
    static func setOperation(_ count: Int) -> [UInt8] {
        let random = SeededRandom(seed: UInt64(count))
        var text = "private_key=\(hexadecimal(random))\nlisten_port=51820\nreplace_peers=true\n"
        for number in 0..<UInt32(count) {
            let inner = IPAddress(ipv4: 0x0A00_0000 + number)
            let outer = IPAddress(ipv4: 0xC612_0000 + number)
            text += """
                public_key=\(hexadecimal(random))
                preshared_key=\(hexadecimal(random))
                endpoint=\(outer):51820
                persistent_keepalive_interval=25
                replace_allowed_ips=true
                allowed_ip=\(inner)/32

                """
        }
        return Array(text.utf8)
    }

    /// 32 random bytes in hexadecimal.
    private static func hexadecimal(_ random: SeededRandom) -> String {
        (0..<4).map { _ in
            let digits = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
