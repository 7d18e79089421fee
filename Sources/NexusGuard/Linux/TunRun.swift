// SPDX-License-Identifier: MIT

internal import Glibc

/// Packets of one flow that follow each other and leave in one write; most often just one packet.
struct TunRun {
    /// The headers of the first packet.
    var head: TunFlowPacket
    /// The slot of the first packet.
    var first: Int
    /// The slot of the last packet.
    var last: Int
    /// The number of packets.
    var count = 1
    /// The payload bytes of all packets.
    var payloadByteCount: Int
    /// The IPv4 identification that the next packet must have.
    var nextIdentification: UInt16 = 0
    /// The TCP sequence number that the next packet must have.
    var nextSequence: UInt32 = 0
    /// Whether the checksums of the first packet were looked at and are right.
    var isVerified = false
    /// Whether nothing may follow the last packet.
    var isEnded = false
    /// Whether the last packet has the TCP flag PSH.
    var hasPush = false

    /// A run of one packet.
    init(slot: Int, packet: UnsafeRawPointer, headers: TunFlowPacket) {
        head = headers
        first = slot
        last = slot
        payloadByteCount = headers.payloadByteCount
        guard headers.role == .joinable else {
            isEnded = true
            return
        }
        noteLast(packet, headers)
    }

    /// Adds a packet that `accepts` said yes to.
    mutating func append(slot: Int, packet: UnsafeRawPointer, headers: TunFlowPacket) {
        last = slot
        count += 1
        payloadByteCount += headers.payloadByteCount
        if headers.payloadByteCount < head.payloadByteCount { isEnded = true }
        noteLast(packet, headers)
    }

    private mutating func noteLast(_ packet: UnsafeRawPointer, _ headers: TunFlowPacket) {
        if !headers.isIPv6 {
            nextIdentification =
                UInt16(bigEndian: packet.loadUnaligned(fromByteOffset: 4, as: UInt16.self)) &+ 1
        }
        if !headers.isUDP {
            let start = packet + headers.transportOffset
            nextSequence =
                UInt32(bigEndian: start.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
                &+ UInt32(truncatingIfNeeded: headers.payloadByteCount)
            // PSH asks for delivery now: nothing is joined behind it.
            hasPush = start.load(fromByteOffset: 13, as: UInt8.self) & TunFlowPacket.push != 0
            if hasPush { isEnded = true }
        }
    }

    /// Whether a joinable packet of the same flow can follow, so that a split gives all packets back unchanged.
    ///
    /// Checksums are not looked at here.
    ///
    /// - Parameter packet: The first packet of the run.
    func accepts(_ next: UnsafeRawPointer, _ headers: TunFlowPacket, after packet: UnsafeRawPointer) -> Bool {
        guard !isEnded, headers.payloadByteCount <= head.payloadByteCount,
            headers.headerByteCount == head.headerByteCount,
            head.headerByteCount + payloadByteCount + headers.payloadByteCount <= Self.largestWrite,
            count < (head.isUDP ? Self.mostDatagrams : Self.mostSegments)
        else { return false }
        if head.isIPv6 {
            // Version, traffic class and flow label; then next header and hop limit.
            guard Self.isEqual(UInt32.self, packet, next, 0), Self.isEqual(UInt16.self, packet, next, 6)
            else { return false }
        } else {
            // Version, header length and traffic class; fragment bits; time to live and protocol.
            guard Self.isEqual(UInt16.self, packet, next, 0), Self.isEqual(UInt32.self, packet, next, 6),
                UInt16(bigEndian: next.loadUnaligned(fromByteOffset: 4, as: UInt16.self))
                    == nextIdentification
            else { return false }
        }
        if head.isUDP { return true }
        let start = packet + head.transportOffset
        let nextStart = next + head.transportOffset
        guard
            UInt32(bigEndian: nextStart.loadUnaligned(fromByteOffset: 4, as: UInt32.self)) == nextSequence,
            // Acknowledgment number; header length; window; urgent pointer. The flags of both are ACK.
            Self.isEqual(UInt32.self, start, nextStart, 8), Self.isEqual(UInt8.self, start, nextStart, 12),
            Self.isEqual(UInt16.self, start, nextStart, 14), Self.isEqual(UInt16.self, start, nextStart, 18)
        else { return false }
        let optionByteCount = head.headerByteCount - head.transportOffset - 20
        return optionByteCount == 0 || memcmp(start + 20, nextStart + 20, optionByteCount) == 0
    }

    @inline(__always)
    private static func isEqual<Word: FixedWidthInteger & BitwiseCopyable>(
        _ type: Word.Type, _ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ offset: Int
    ) -> Bool {
        left.loadUnaligned(fromByteOffset: offset, as: Word.self)
            == right.loadUnaligned(fromByteOffset: offset, as: Word.self)
    }

    /// The most bytes of one write: what the length field of IPv4 can say.
    static let largestWrite = 65_535
    /// The most TCP segments of one write; with the headers far below the 1,024 pieces of one `writev`.
    static let mostSegments = 512
    /// The most UDP datagrams of one write: what the kernel's own receive offload joins.
    static let mostDatagrams = 64
}
