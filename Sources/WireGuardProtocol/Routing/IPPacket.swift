// SPDX-License-Identifier: MIT

/// Reads and marks the IP headers of packets inside the tunnel, in place.
package enum IPPacket {
    /// What the tunnel needs of an IP header.
    package struct Header: Hashable, Sendable {
        /// Whether the packet is IPv6.
        package let isIPv6: Bool
        /// The size of the packet by its own header, in bytes; what lies behind it is padding.
        package let byteCount: Int
        /// The ECN bits: 0 is Not-ECT, 1 is ECT(1), 2 is ECT(0), 3 is CE (RFC 3168).
        package let congestion: UInt8
    }

    /// Reads the header of a packet of `byteCount` bytes, of which only that many are read.
    ///
    /// - Returns: `nil` when the version is neither 4 nor 6, the header is not complete, or the length that the
    ///   header gives is less than the header's own or more than `byteCount`.
    package static func header(of data: UnsafeRawPointer, byteCount: Int) -> Header? {
        guard byteCount >= ipv4HeaderByteCount else { return nil }
        let first = unsafe data.load(as: UInt8.self)
        let second = unsafe data.load(fromByteOffset: 1, as: UInt8.self)
        switch first >> 4 {
        case 4:
            let headerByteCount = Int(first & 15) * 4
            let total = Int(unsafe word(data, at: 2))
            guard headerByteCount >= ipv4HeaderByteCount, total >= headerByteCount, total <= byteCount else {
                return nil
            }
            return Header(isIPv6: false, byteCount: total, congestion: second & congestionMask)
        case 6:
            guard byteCount >= ipv6HeaderByteCount else { return nil }
            let total = Int(unsafe word(data, at: 4)) + ipv6HeaderByteCount
            guard total <= byteCount else { return nil }
            return Header(isIPv6: true, byteCount: total, congestion: second >> 4 & congestionMask)
        default:
            return nil
        }
    }

    /// The source address of a packet whose header is valid: 4 or 16 bytes in network order.
    package static func source(of data: UnsafeRawPointer, isIPv6: Bool) -> UnsafeRawPointer {
        unsafe data + (isIPv6 ? 8 : 12)
    }

    /// The destination address of a packet whose header is valid: 4 or 16 bytes in network order.
    package static func destination(of data: UnsafeRawPointer, isIPv6: Bool) -> UnsafeRawPointer {
        unsafe data + (isIPv6 ? 24 : 16)
    }

    /// Combines the ECN bits of the outer header with those of a decrypted packet (RFC 6040, section 4.2).
    ///
    /// An outer CE marks an inner ECT packet, an outer ECT(1) turns an inner ECT(0) into ECT(1), and all else
    /// leaves the inner packet alone. An IPv4 header checksum follows the change (RFC 1624), and one that was
    /// wrong stays wrong.
    ///
    /// - Parameters:
    ///   - outer: The ECN bits of the outer header; other bits are ignored.
    ///   - packet: A packet whose header is valid.
    ///   - isIPv6: Whether it is IPv6.
    /// - Returns: Whether the packet may go on: not when the outer header says CE and the inner Not-ECT.
    package static func applyOuterCongestion(
        _ outer: UInt8, to packet: UnsafeMutableRawPointer, isIPv6: Bool
    ) -> Bool {
        let outer = outer & congestionMask
        // Not-ECT and ECT(0) outside change nothing inside.
        guard outer == capableOne || outer == congestionExperienced else { return true }
        let shift: UInt16 = isIPv6 ? 4 : 0
        let old = unsafe word(UnsafeRawPointer(packet), at: 0)
        let inner = UInt8(truncatingIfNeeded: old >> shift) & congestionMask
        switch inner {
        case notCapable: return outer != congestionExperienced
        case capableZero: break
        case capableOne where outer == congestionExperienced: break
        default: return true
        }
        let new = old & ~(UInt16(congestionMask) << shift) | UInt16(outer) << shift
        unsafe setWord(packet, at: 0, to: new)
        if !isIPv6 {
            let checksum = unsafe word(UnsafeRawPointer(packet), at: 10)
            var sum = UInt32(~checksum) + UInt32(~old) + UInt32(new)
            sum = sum >> 16 + sum & 0xFFFF
            sum = sum >> 16 + sum & 0xFFFF
            unsafe setWord(packet, at: 10, to: ~UInt16(truncatingIfNeeded: sum))
        }
        return true
    }

    /// The 16 bits at an offset, sent most significant byte first.
    @inline(__always)
    private static func word(_ data: UnsafeRawPointer, at offset: Int) -> UInt16 {
        UInt16(bigEndian: unsafe data.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// Writes 16 bits at an offset, most significant byte first.
    @inline(__always)
    private static func setWord(_ data: UnsafeMutableRawPointer, at offset: Int, to value: UInt16) {
        unsafe data.storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt16.self)
    }

    private static let ipv4HeaderByteCount = 20
    private static let ipv6HeaderByteCount = 40
    private static let congestionMask: UInt8 = 3
    private static let notCapable: UInt8 = 0
    private static let capableOne: UInt8 = 1
    private static let capableZero: UInt8 = 2
    private static let congestionExperienced: UInt8 = 3
}
