// SPDX-License-Identifier: MIT

/// What tells the packets of one TCP or UDP flow from all others.
package struct TunFlowKey: Equatable, Sendable {
    /// The source address: 16 bytes, or 4 and zeros.
    var source: (UInt64, UInt64) = (0, 0)
    /// The destination address: 16 bytes, or 4 and zeros.
    var destination: (UInt64, UInt64) = (0, 0)
    /// Both ports as they lie in memory.
    var ports: UInt32 = 0
    /// The version in the high byte, the transport protocol in the low one.
    var kind: UInt16 = 0

    /// Whether both are packets from the same address to the same address.
    @inline(__always)
    func hasSameAddresses(as other: TunFlowKey) -> Bool {
        source.0 == other.source.0 && source.1 == other.source.1
            && destination.0 == other.destination.0 && destination.1 == other.destination.1
    }

    @inline(__always)
    package static func == (left: TunFlowKey, right: TunFlowKey) -> Bool {
        left.ports == right.ports && left.kind == right.kind && left.hasSameAddresses(as: right)
    }
}

/// The headers of one packet, as far as coalescing asks.
package struct TunFlowPacket {
    /// What may be done with a packet.
    package enum Role: Sendable {
        /// Neither IPv4 nor IPv6: it must not overtake anything, nor be overtaken.
        case unknown
        /// No TCP or UDP header was found: the order among the same addresses is to be kept.
        case addressesOnly
        /// It stays alone: the order in its flow is to be kept.
        case alone
        /// It may be joined with neighbours of its flow.
        case joinable
    }

    /// What may be done with it.
    package private(set) var role = Role.unknown
    /// Its flow; without ports when `role` is `addressesOnly`.
    package private(set) var key = TunFlowKey()
    /// The offset of the TCP or UDP header.
    package private(set) var transportOffset = 0
    /// The bytes of all headers.
    package private(set) var headerByteCount = 0
    /// The bytes behind the headers.
    package private(set) var payloadByteCount = 0

    /// Whether it is IPv6.
    var isIPv6: Bool { key.kind >> 8 == 6 }
    /// Whether it is UDP.
    var isUDP: Bool { key.kind & 0xFF == Self.udp }

    /// Reads the headers of a packet.
    ///
    /// Only plain packets are joinable: no IPv4 options, fragments or IPv6 extension headers, lengths that
    /// agree, of TCP flags only ACK and PSH, a payload, and for UDP a checksum.
    @inline(__always)
    package init(reading packet: UnsafeRawPointer, byteCount: Int) {
        guard byteCount >= 20 else { return }
        let transport: UInt8
        switch packet.load(as: UInt8.self) {
        case 0x40...0x4F:
            role = .addressesOnly
            key.source.0 = UInt64(packet.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
            key.destination.0 = UInt64(packet.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
            transport = packet.load(fromByteOffset: 9, as: UInt8.self)
            key.kind = 0x400 | UInt16(transport)
            transportOffset = 20
            let fragment = UInt16(bigEndian: packet.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
            let length = UInt16(bigEndian: packet.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
            guard packet.load(as: UInt8.self) == 0x45, fragment & ~0x4000 == 0, Int(length) == byteCount
            else { return }
        case 0x60...0x6F:
            guard byteCount >= 40 else { return }
            role = .addressesOnly
            key.source.0 = packet.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            key.source.1 = packet.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
            key.destination.0 = packet.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
            key.destination.1 = packet.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
            transport = packet.load(fromByteOffset: 6, as: UInt8.self)
            key.kind = 0x600 | UInt16(transport)
            transportOffset = 40
            let length = UInt16(bigEndian: packet.loadUnaligned(fromByteOffset: 4, as: UInt16.self))
            guard Int(length) == byteCount - 40 else { return }
        default: return
        }
        readTransport(packet + transportOffset, byteCount: byteCount - transportOffset, transport)
    }

    @inline(__always)
    private mutating func readTransport(_ start: UnsafeRawPointer, byteCount: Int, _ transport: UInt8) {
        let joinable: Bool
        if transport == Self.tcp {
            guard byteCount >= 20 else { return }
            let offsetAndReserved = start.load(fromByteOffset: 12, as: UInt8.self)
            let tcpByteCount = Int(offsetAndReserved >> 4) * 4
            guard tcpByteCount >= 20, tcpByteCount <= byteCount else { return }
            headerByteCount = transportOffset + tcpByteCount
            payloadByteCount = byteCount - tcpByteCount
            let flags = start.load(fromByteOffset: 13, as: UInt8.self)
            joinable = flags & ~Self.push == Self.acknowledgment && offsetAndReserved & 0x0F == 0
        } else if transport == Self.udp {
            guard byteCount >= 8 else { return }
            headerByteCount = transportOffset + 8
            payloadByteCount = byteCount - 8
            let length = UInt16(bigEndian: start.loadUnaligned(fromByteOffset: 4, as: UInt16.self))
            joinable =
                Int(length) == byteCount && start.loadUnaligned(fromByteOffset: 6, as: UInt16.self) != 0
        } else {
            return
        }
        key.ports = start.loadUnaligned(as: UInt32.self)
        role = joinable && payloadByteCount > 0 ? .joinable : .alone
    }

    /// Whether the checksums of a joinable packet are right, in the form in which they would be computed anew.
    ///
    /// 0xFFFF for 0 is also right, but would not come out of a split, except for UDP.
    package func hasCanonicalChecksums(_ packet: UnsafeRawPointer) -> Bool {
        if !isIPv6 {
            guard InternetChecksum.fold(InternetChecksum.sum(packet, 20)) == 0xFFFF,
                packet.loadUnaligned(fromByteOffset: 10, as: UInt16.self) != 0xFFFF
            else { return false }
        }
        let start = packet + transportOffset
        let byteCount = headerByteCount - transportOffset + payloadByteCount
        let sum =
            InternetChecksum.pseudoHeader(packet, isIPv6: isIPv6, transport: isUDP ? Self.udp : Self.tcp)
            &+ InternetChecksum.word(UInt16(truncatingIfNeeded: byteCount))
            &+ InternetChecksum.payloadSum(start, byteCount)
        guard InternetChecksum.fold(sum) == 0xFFFF else { return false }
        return isUDP || start.loadUnaligned(fromByteOffset: 16, as: UInt16.self) != 0xFFFF
    }

    /// The protocol number of TCP.
    static let tcp: UInt8 = 6
    /// The protocol number of UDP.
    static let udp: UInt8 = 17
    /// The flag ACK.
    static let acknowledgment: UInt8 = 0x10
    /// The flag PSH.
    static let push: UInt8 = 0x08
}
