// SPDX-License-Identifier: MIT

/// Builds TCP and UDP packets field by field, and knows the checksum by the book: one word after the other.
struct TunTestPacket {
    enum Transport: UInt8 {
        case tcp = 6
        case udp = 17
    }

    var isIPv6 = false
    var transport = Transport.tcp
    var source: UInt8 = 1
    var destination: UInt8 = 2
    var trafficClass: UInt8 = 0
    var flowLabel: UInt32 = 0
    var identification: UInt16 = 100
    /// The IPv4 word of fragment bits and offset; 0x4000 is DF.
    var fragment: UInt16 = 0x4000
    var timeToLive: UInt8 = 64
    var ipOptions: [UInt8] = []
    var sourcePort: UInt16 = 5_000
    var destinationPort: UInt16 = 443
    var sequence: UInt32 = 1_000
    var acknowledgment: UInt32 = 77
    var reserved: UInt8 = 0
    var flags: UInt8 = 0x10
    var window: UInt16 = 502
    var urgent: UInt16 = 0
    var tcpOptions: [UInt8] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]
    var payload: [UInt8] = []
    var hasChecksum = true

    /// The packet that follows in the flow.
    func next(payload: [UInt8]) -> TunTestPacket {
        var next = self
        next.identification &+= 1
        next.sequence &+= UInt32(self.payload.count)
        next.payload = payload
        return next
    }

    /// The offset of the TCP or UDP header.
    var transportOffset: Int { isIPv6 ? 40 : 20 + ipOptions.count }
    /// The offset of the TCP or UDP checksum in the packet.
    var checksumPosition: Int { transportOffset + (transport == .tcp ? 16 : 6) }
    /// The size of all headers.
    var headerByteCount: Int { transportOffset + (transport == .tcp ? 20 + tcpOptions.count : 8) }

    /// The packet with all lengths and checksums.
    var bytes: [UInt8] {
        var segment = transportHeader + payload
        let sum = Self.sum(pseudoHeader(length: segment.count)) + Self.sum(segment)
        var checksum = ~Self.fold(sum)
        if transport == .udp, checksum == 0 { checksum = 0xFFFF }
        if !hasChecksum { checksum = 0 }
        Self.put(checksum, into: &segment, at: transport == .tcp ? 16 : 6)
        return ipHeader(length: segment.count) + segment
    }

    /// The packet as the kernel hands it over with an unfinished checksum: the field holds only the sum of the
    /// pseudo-header.
    var bytesWithPartialChecksum: [UInt8] {
        var packet = bytes
        let length = packet.count - transportOffset
        Self.put(Self.fold(Self.sum(pseudoHeader(length: length))), into: &packet, at: checksumPosition)
        return packet
    }

    private var transportHeader: [UInt8] {
        var header = Self.octets(sourcePort) + Self.octets(destinationPort)
        switch transport {
        case .tcp:
            header += Self.octets(sequence) + Self.octets(acknowledgment)
            header += [UInt8((20 + tcpOptions.count) / 4) << 4 | reserved, flags]
            header += Self.octets(window) + [0, 0] + Self.octets(urgent) + tcpOptions
        case .udp:
            header += Self.octets(UInt16(truncatingIfNeeded: 8 + payload.count)) + [0, 0]
        }
        return header
    }

    private var addresses: [UInt8] {
        if isIPv6 {
            let prefix: [UInt8] = [0xFD] + [UInt8](repeating: 0, count: 14)
            return prefix + [source] + prefix + [destination]
        }
        return [10, 0, 0, source, 10, 0, 0, destination]
    }

    private func pseudoHeader(length: Int) -> [UInt8] {
        addresses + [0, transport.rawValue] + Self.octets(UInt16(truncatingIfNeeded: length))
    }

    private func ipHeader(length: Int) -> [UInt8] {
        if isIPv6 {
            let first = 6 << 28 | UInt32(trafficClass) << 20 | flowLabel
            return Self.octets(first) + Self.octets(UInt16(truncatingIfNeeded: length))
                + [transport.rawValue, timeToLive] + addresses
        }
        var header = [0x40 | UInt8(5 + ipOptions.count / 4), trafficClass]
        header += Self.octets(UInt16(truncatingIfNeeded: transportOffset + length))
        header += Self.octets(identification) + Self.octets(fragment)
        header += [timeToLive, transport.rawValue, 0, 0] + addresses + ipOptions
        Self.put(~Self.fold(Self.sum(header)), into: &header, at: 10)
        return header
    }

    /// The sum of big-endian words, an odd last byte filled up with 0.
    static func sum(_ bytes: [UInt8]) -> Int {
        var sum = 0
        for (index, byte) in bytes.enumerated() { sum += index % 2 == 0 ? Int(byte) << 8 : Int(byte) }
        return sum
    }

    /// A sum with its carries added in, until it has 16 bits.
    static func fold(_ sum: Int) -> UInt16 {
        var sum = sum
        while sum > 0xFFFF { sum = (sum & 0xFFFF) + (sum >> 16) }
        return UInt16(sum)
    }

    /// Writes a number of 16 bits in network order.
    static func put(_ number: UInt16, into bytes: inout [UInt8], at position: Int) {
        bytes[position] = UInt8(number >> 8)
        bytes[position + 1] = UInt8(number & 0xFF)
    }

    /// The octets of a number in network order.
    static func octets<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
    }

    /// `count` bytes that follow from `seed`.
    static func payload(_ count: Int, seed: Int = 1) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ (seed &* 97) ^ ($0 >> 5)) }
    }
}
