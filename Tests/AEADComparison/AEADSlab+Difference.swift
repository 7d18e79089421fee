// SPDX-License-Identifier: MIT

internal import Glibc
package import WireGuardCrypto

extension AEADSlab {
    /// Seals and opens random contents, and names what differs from libsodium's AEAD.
    ///
    /// - Parameters:
    ///   - shift: Moves all packets to other alignments, 0 to 63.
    ///   - keys: 32 bytes for each key that a packet names.
    /// - Returns: The end of a sentence, or `nil` when all is as it must be.
    package static func difference(
        _ packets: [Packet], _ implementation: AEADImplementation, shift: Int, keys: UnsafeRawPointer,
        _ random: inout some RandomNumberGenerator
    ) -> String? {
        let plain = AEADSlab(packets, shift: shift)
        plain.fill(&random)
        return plain.difference(implementation, keys: keys)
    }

    /// Seals and opens the contents of this slab, and names what differs from libsodium's AEAD.
    package func difference(_ implementation: AEADImplementation, keys: UnsafeRawPointer) -> String? {
        let expected = AEADSlab(copying: self)
        expected.seal(.libsodium, keys: keys)
        let sealed = AEADSlab(copying: self)
        sealed.seal(implementation, keys: keys)
        let wrong = sealed.differences(from: expected, extra: 16)
        if !wrong.isEmpty { return "packets \(wrong) are sealed otherwise" }
        if !sealed.guardsAreWhole { return "sealing writes outside of the room" }
        let before = AEADSlab(copying: expected)
        let opened = AEADSlab(packets, shift: (shift + 13) % 64)
        let isAuthentic = expected.open(implementation, into: opened, keys: keys)
        if isAuthentic.contains(false) { return "packets are refused: \(isAuthentic)" }
        let other = opened.differences(from: self, extra: 0)
        if !other.isEmpty { return "packets \(other) are opened otherwise" }
        if !opened.guardsAreWhole { return "opening writes outside of the room" }
        let isSame = memcmp(expected.start, before.start, expected.byteCount) == 0
        return isSame ? nil : "opening writes to its source"
    }
}
