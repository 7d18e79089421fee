// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
package import WireGuardProtocol

/// Splits what one read from a TUN gives, up to 64 KiB of one TCP or UDP flow, into packets of the MTU.
///
/// It keeps its place: when a batch is full in the middle of a read, the rest goes into the next batch.
package struct TunSplitter {
    private var packet: UnsafeMutableRawPointer?
    private var byteCount = 0
    /// The payload bytes that are split off already.
    private var offset = 0
    private var segmentByteCount = 0
    private var transportOffset = 0
    private var headerByteCount = 0
    /// 0 for a packet that is passed on as it is.
    private var transport: UInt8 = 0
    private var isIPv6 = false
    private var congestion: UInt8 = 0
    private var sequence: UInt32 = 0
    private var identification: UInt16 = 0
    /// The sum of the pseudo-header without the length.
    private var pseudoHeader: UInt64 = 0

    /// Whether a read was loaded and is not split to its end.
    package private(set) var isPending = false

    /// A splitter that holds nothing.
    package init() {}

    /// Takes one read, whose bytes must stay in place until `isPending` is false.
    ///
    /// A checksum that is to be completed is written into the bytes. The header's hint about the size of the
    /// headers is not used, since the kernel may give that of all linear bytes.
    ///
    /// - Returns: `false` if the virtio header does not fit the packet, which is then dropped.
    package mutating func load(
        _ packet: UnsafeMutableRawPointer, byteCount: Int, header: VirtioHeader
    ) -> Bool {
        precondition(!isPending, "a read is split to its end before the next one is loaded")
        guard byteCount > 0 else { return false }
        self.packet = packet
        self.byteCount = byteCount
        offset = 0
        transport = 0
        headerByteCount = byteCount
        congestion = Self.congestion(packet, byteCount)
        let accepted: Bool
        switch header.kind {
        case linux_virtio_gso_none: accepted = loadWhole(packet, header)
        case linux_virtio_gso_tcpv4: accepted = loadSegments(packet, header, transport: 6, version: 4)
        case linux_virtio_gso_tcpv6: accepted = loadSegments(packet, header, transport: 6, version: 6)
        case linux_virtio_gso_udp_l4:
            let version = packet.load(as: UInt8.self) >> 4
            accepted = loadSegments(packet, header, transport: 17, version: version)
        default: accepted = false
        }
        isPending = accepted
        return accepted
    }

    /// Puts packets into the batch until the read is used up or the batch is full.
    ///
    /// - Returns: The number of packets added.
    package mutating func split(into batch: inout PacketBatch) -> Int {
        guard let packet else { return 0 }
        var added = 0
        while isPending {
            let payload = min(segmentByteCount, byteCount - headerByteCount - offset)
            let count = headerByteCount + payload
            guard let target = batch.append(byteCount: count, congestion: congestion) else { break }
            memcpy(target, packet, headerByteCount)
            added += 1
            if transport == 0 {
                isPending = false
                break
            }
            let sum = InternetChecksum.copy(
                packet + headerByteCount + offset, to: target + headerByteCount, payload)
            finish(target, count, payloadSum: sum)
            offset += payload
            isPending = headerByteCount + offset < byteCount
        }
        return added
    }

    /// Writes the header fields in which a segment differs from the whole.
    private mutating func finish(
        _ segment: UnsafeMutableRawPointer, _ count: Int, payloadSum: UInt64
    ) {
        let isFirst = offset == 0
        let isLast = count + offset == byteCount
        if isIPv6 {
            Self.store(UInt16(truncatingIfNeeded: count - 40), to: segment + 4)
        } else {
            Self.store(UInt16(truncatingIfNeeded: count), to: segment + 2)
            Self.store(identification, to: segment + 4)
            identification &+= 1
            Self.store(0, to: segment + 10)
            let sum = InternetChecksum.sum(segment, transportOffset)
            (segment + 10).storeBytes(of: ~InternetChecksum.fold(sum), as: UInt16.self)
        }
        let start = segment + transportOffset
        let transportByteCount = UInt16(truncatingIfNeeded: count - transportOffset)
        let checksum: UnsafeMutableRawPointer
        if transport == 6 {
            checksum = start + 16
            let number = sequence &+ UInt32(truncatingIfNeeded: offset)
            (start + 4).storeBytes(of: number.bigEndian, as: UInt32.self)
            // FIN and PSH belong to the last byte, CWR to the first packet only (RFC 3168, section 6.1.2).
            var flags = (start + 13).load(as: UInt8.self)
            if !isLast { flags &= ~0x09 }
            if !isFirst { flags &= ~0x80 }
            (start + 13).storeBytes(of: flags, as: UInt8.self)
        } else {
            checksum = start + 6
            Self.store(transportByteCount, to: start + 4)
        }
        Self.store(0, to: checksum)
        let sum =
            pseudoHeader &+ InternetChecksum.word(transportByteCount)
            &+ InternetChecksum.sum(start, headerByteCount - transportOffset) &+ payloadSum
        var value = ~InternetChecksum.fold(sum)
        // 0 would say that there is no checksum (RFC 768).
        if transport == 17, value == 0 { value = 0xFFFF }
        checksum.storeBytes(of: value, as: UInt16.self)
    }

    /// Accepts one packet that needs no splitting, and completes its checksum if asked to.
    private mutating func loadWhole(_ packet: UnsafeMutableRawPointer, _ header: VirtioHeader) -> Bool {
        guard byteCount <= Self.largestPacket else { return false }
        segmentByteCount = 0
        guard header.needsChecksum else { return true }
        let start = Int(header.checksumStart)
        let position = start + Int(header.checksumOffset)
        guard position + 2 <= byteCount else { return false }
        // The field holds the sum of the pseudo-header, so that it is counted by counting it too.
        let value = ~InternetChecksum.fold(InternetChecksum.payloadSum(packet + start, byteCount - start))
        (packet + position).storeBytes(of: value == 0 ? 0xFFFF : value, as: UInt16.self)
        return true
    }

    /// Accepts one packet of several segments and reads what they need.
    private mutating func loadSegments(
        _ packet: UnsafeMutableRawPointer, _ header: VirtioHeader, transport: UInt8, version: UInt8
    ) -> Bool {
        transportOffset = Int(header.checksumStart)
        segmentByteCount = Int(header.segmentByteCount)
        isIPv6 = version == 6
        let first = packet.load(as: UInt8.self)
        guard segmentByteCount > 0, first >> 4 == version, version == 4 || version == 6 else { return false }
        // Extension headers may stand before the transport header of IPv6, so that its offset is believed.
        guard isIPv6 ? transportOffset >= 40 : transportOffset >= 20 && Int(first & 15) * 4 == transportOffset
        else { return false }
        let start = packet + transportOffset
        if transport == 6 {
            guard transportOffset + 20 <= byteCount, header.checksumOffset == 16 else { return false }
            let tcpByteCount = Int((start + 12).load(as: UInt8.self) >> 4) * 4
            guard tcpByteCount >= 20 else { return false }
            headerByteCount = transportOffset + tcpByteCount
            sequence = UInt32(bigEndian: (start + 4).loadUnaligned(as: UInt32.self))
        } else {
            guard header.checksumOffset == 6 else { return false }
            headerByteCount = transportOffset + 8
        }
        guard headerByteCount <= byteCount,
            headerByteCount + min(segmentByteCount, byteCount - headerByteCount) <= Self.largestPacket
        else { return false }
        if !isIPv6 { identification = UInt16(bigEndian: (packet + 4).loadUnaligned(as: UInt16.self)) }
        if header.needsChecksum {
            // The field holds the sum of the pseudo-header with the length of the whole, which is taken off:
            // in one's complement by adding the inverse.
            let field = (start + Int(header.checksumOffset)).loadUnaligned(as: UInt16.self)
            let whole = UInt16(truncatingIfNeeded: byteCount - transportOffset)
            pseudoHeader = UInt64(field) &+ InternetChecksum.word(~whole)
        } else {
            pseudoHeader = InternetChecksum.pseudoHeader(packet, isIPv6: isIPv6, transport: transport)
        }
        self.transport = transport
        return true
    }

    /// The two ECN bits of an IP header; 0 for anything else.
    private static func congestion(_ packet: UnsafeRawPointer, _ byteCount: Int) -> UInt8 {
        guard byteCount >= 2 else { return 0 }
        let second = packet.load(fromByteOffset: 1, as: UInt8.self)
        switch packet.load(as: UInt8.self) >> 4 {
        case 4: return second & 3
        case 6: return second >> 4 & 3
        default: return 0
        }
    }

    private static func store(_ number: UInt16, to position: UnsafeMutableRawPointer) {
        position.storeBytes(of: number.bigEndian, as: UInt16.self)
    }

    /// The largest packet that fits an empty batch of any size.
    private static let largestPacket = 65_535
}
