// SPDX-License-Identifier: MIT

internal import CChecksum

/// The checksum of IPv4, TCP and UDP (RFC 1071), in steps that can be put together.
///
/// A partial sum is a plain sum of words as they lie in memory, in this host's byte order: one's complement
/// sums do not depend on it. Partial sums of a packet are added with `&+`; 64 bits hold those of any packet.
package enum InternetChecksum {
    /// The partial sum of `byteCount` bytes; an odd last byte counts as the first byte of a word.
    ///
    /// The bytes need no alignment, but start at an even offset of what the checksum covers. Meant for headers.
    @inline(__always)
    package static func sum(_ bytes: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
        var position = bytes
        var left = byteCount
        var sum: UInt64 = 0
        while left >= 4 {
            sum &+= UInt64(position.loadUnaligned(as: UInt32.self))
            position += 4
            left -= 4
        }
        if left >= 2 {
            sum &+= UInt64(position.loadUnaligned(as: UInt16.self))
            position += 2
            left -= 2
        }
        if left == 1 {
            sum &+= UInt64(UInt16(littleEndian: UInt16(position.load(as: UInt8.self))))
        }
        return sum
    }

    private static let width = checksum_widest()

    /// As `sum`, with the widest vectors that the processor has: the better one for payloads.
    package static func payloadSum(_ bytes: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
        checksum_sum(width, bytes, byteCount)
    }

    /// Copies bytes to where none of them is, and gives their partial sum.
    package static func copy(
        _ bytes: UnsafeRawPointer, to destination: UnsafeMutableRawPointer, _ byteCount: Int
    ) -> UInt64 {
        checksum_copy(width, destination, bytes, byteCount)
    }

    /// The partial sum of one word that is given as a number.
    @inline(__always)
    package static func word(_ number: UInt16) -> UInt64 {
        UInt64(number.bigEndian)
    }

    /// A partial sum brought down to 16 bits, in memory order; 0 only when all that was added is 0.
    @inline(__always)
    package static func fold(_ sum: UInt64) -> UInt16 {
        var folded = (sum >> 32) &+ (sum & 0xFFFF_FFFF)
        folded = (folded >> 16) &+ (folded & 0xFFFF)
        folded = (folded >> 16) &+ (folded & 0xFFFF)
        folded = (folded >> 16) &+ (folded & 0xFFFF)
        return UInt16(truncatingIfNeeded: folded)
    }

    /// The partial sum of the pseudo-header of TCP or UDP (RFC 9293, section 3.1; RFC 8200, section 8.1),
    /// without the length.
    ///
    /// - Parameters:
    ///   - packet: An IP packet with at least its fixed header.
    ///   - transport: The protocol number.
    @inline(__always)
    package static func pseudoHeader(_ packet: UnsafeRawPointer, isIPv6: Bool, transport: UInt8) -> UInt64 {
        let addresses = isIPv6 ? sum(packet + 8, 32) : sum(packet + 12, 8)
        return addresses &+ word(UInt16(transport))
    }
}
