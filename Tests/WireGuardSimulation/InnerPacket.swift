// SPDX-License-Identifier: MIT

package import WireGuardProtocol

/// Inner packets with a header that routing reads and a body that a test recognises.
package enum InnerPacket {
    /// An IPv4 or IPv6 packet with a valid header and UDP as its protocol.
    ///
    /// - Parameters:
    ///   - byteCount: The size of the whole packet, at least 28 or 48.
    ///   - tag: Eight bytes that are written at the end of the header.
    ///   - congestion: The two ECN bits.
    package static func make(
        from source: IPAddress, to destination: IPAddress, byteCount: Int = 100, tag: UInt64 = 0,
        congestion: UInt8 = 0
    ) -> [UInt8] {
        precondition(source.isIPv6 == destination.isIPv6, "both addresses are of one family")
        precondition(byteCount >= (source.isIPv6 ? 48 : 28), "the packet holds its header and its tag")
        var packet = [UInt8](repeating: 0, count: byteCount)
        let headerByteCount = source.isIPv6 ? 40 : 20
        if source.isIPv6 {
            packet[0] = 0x60 | congestion >> 4
            packet[1] = congestion << 4
            write(UInt64(byteCount - 40), 2, to: &packet, at: 4)
            packet[6] = 17
            packet[7] = 64
            write(source.high, 8, to: &packet, at: 8)
            write(source.low, 8, to: &packet, at: 16)
            write(destination.high, 8, to: &packet, at: 24)
            write(destination.low, 8, to: &packet, at: 32)
        } else {
            packet[0] = 0x45
            packet[1] = congestion
            write(UInt64(byteCount), 2, to: &packet, at: 2)
            packet[8] = 64
            packet[9] = 17
            write(source.high >> 32, 4, to: &packet, at: 12)
            write(destination.high >> 32, 4, to: &packet, at: 16)
            write(UInt64(headerChecksum(packet)), 2, to: &packet, at: 10)
        }
        write(tag, 8, to: &packet, at: headerByteCount)
        return packet
    }

    /// The tag that `make` wrote.
    package static func tag(of packet: [UInt8]) -> UInt64 {
        let start = packet[0] >> 4 == 6 ? 40 : 20
        return packet[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The checksum over an IPv4 header of 20 bytes whose checksum field is zero (RFC 1071).
    package static func headerChecksum(_ packet: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        for index in stride(from: 0, to: 20, by: 2) {
            sum += UInt32(packet[index]) << 8 | UInt32(packet[index + 1])
        }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return ~UInt16(sum)
    }

    /// Writes the last `count` bytes of a number, most significant first.
    private static func write(_ value: UInt64, _ count: Int, to packet: inout [UInt8], at offset: Int) {
        for index in 0..<count {
            packet[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - index)))
        }
    }
}
