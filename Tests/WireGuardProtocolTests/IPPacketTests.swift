// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardProtocol

@Suite("IPPacket")
struct IPPacketTests {
    @Test("a whole IPv4 header is read", arguments: 5...15)
    func ipv4(headerWords: Int) throws {
        let size = 4 * headerWords
        for extra in [0, 1, 100] {
            var packet = [UInt8](repeating: 0, count: size + extra)
            packet[0] = 0x40 | UInt8(headerWords)
            packet[1] = 0xB9
            packet[3] = UInt8(size + extra)
            let header = try #require(Self.header(packet))
            #expect(!header.isIPv6)
            #expect(header.byteCount == size + extra)
            #expect(header.congestion == 1)
        }
    }

    @Test("a whole IPv6 header is read, and its ECN bits are those of the traffic class")
    func ipv6() throws {
        for congestion: UInt8 in 0..<4 {
            var packet = [UInt8](repeating: 0, count: 300)
            packet[0] = 0x6F
            packet[1] = 0xCF | congestion << 4
            packet[4] = 1
            packet[5] = 4
            let header = try #require(Self.header(packet))
            #expect(header.isIPv6)
            #expect(header.byteCount == 300)
            #expect(header.congestion == congestion)
        }
    }

    @Test("what lies behind the packet's own length is padding")
    func padding() {
        var ipv4 = [UInt8](repeating: 0, count: 64)
        ipv4[0] = 0x45
        ipv4[3] = 49
        var ipv6 = [UInt8](repeating: 0, count: 64)
        ipv6[0] = 0x60
        ipv6[5] = 9
        #expect(Self.header(ipv4)?.byteCount == 49)
        #expect(Self.header(ipv6)?.byteCount == 49)
    }

    @Test("only the versions 4 and 6 are read", arguments: 0...15)
    func versions(version: Int) {
        var packet = [UInt8](repeating: 0, count: 60)
        packet[0] = UInt8(version << 4 | 5)
        packet[3] = 60
        let header = Self.header(packet)
        #expect((header != nil) == (version == 4 || version == 6))
        #expect(header?.isIPv6 ?? (version == 6) == (version == 6))
    }

    @Test("packets of 0 to 60 bytes are read just when the header and its length fit", arguments: 0...60)
    func everySize(size: Int) {
        for total in 0...70 {
            for headerWords in 0...15 {
                var packet = [UInt8](repeating: 0, count: size)
                Self.set(&packet, 0, UInt8(0x40 | headerWords))
                Self.set(&packet, 3, UInt8(total))
                let isValid =
                    headerWords >= 5 && size >= 20 && total >= 4 * headerWords && total <= size
                let header = Self.header(packet)
                if header?.byteCount != (isValid ? total : nil) {
                    Issue.record("IPv4, header of \(headerWords) words, length \(total) in \(size) bytes")
                }
            }
            var packet = [UInt8](repeating: 0, count: size)
            Self.set(&packet, 0, 0x60)
            Self.set(&packet, 5, UInt8(total))
            let isValid = size >= 40 && total + 40 <= size
            if Self.header(packet)?.byteCount != (isValid ? total + 40 : nil) {
                Issue.record("IPv6, payload of \(total) bytes in \(size) bytes")
            }
        }
    }

    @Test("the largest lengths do not overflow")
    func largest() {
        var ipv4 = [UInt8](repeating: 0xFF, count: 65_535)
        ipv4[0] = 0x45
        var ipv6 = [UInt8](repeating: 0xFF, count: 65_575)
        ipv6[0] = 0x60
        #expect(Self.header(ipv4)?.byteCount == 65_535)
        #expect(Self.header(Array(ipv4.dropLast())) == nil)
        #expect(Self.header(ipv6)?.byteCount == 65_575)
        #expect(Self.header(Array(ipv6.dropLast())) == nil)
    }

    @Test("source and destination are where the headers have them")
    func addresses() {
        let bytes = Array(UInt8(0)..<40)
        bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            #expect(IPPacket.source(of: start, isIPv6: false) == start + 12)
            #expect(IPPacket.destination(of: start, isIPv6: false) == start + 16)
            #expect(IPPacket.source(of: start, isIPv6: true) == start + 8)
            #expect(IPPacket.destination(of: start, isIPv6: true) == start + 24)
        }
    }

    /// RFC 6040, figure 4: rows by inner, columns by outer codepoint, in the order of the numbers:
    /// Not-ECT, ECT(1), ECT(0), CE. `nil` is a drop.
    private static let decapsulation: [[UInt8?]] = [
        [0, 0, 0, nil],
        [1, 1, 1, 3],
        [2, 1, 2, 3],
        [3, 3, 3, 3],
    ]

    @Test(
        "outer congestion is combined as RFC 6040 says, and the header checksum stays right",
        arguments: [UInt64(1), 2])
    func congestion(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for round in 0..<200 {
            for inner: UInt8 in 0..<4 {
                for outer: UInt8 in 0..<4 {
                    for isIPv6 in [false, true] {
                        var packet = (0..<60).map { _ in UInt8(random.below(256)) }
                        packet[0] = isIPv6 ? 0x60 | packet[0] & 15 : 0x45 + UInt8(random.below(11))
                        let shift: UInt8 = isIPv6 ? 4 : 0
                        packet[1] = packet[1] & ~(3 << shift) | inner << shift
                        if !isIPv6 { Self.writeChecksum(&packet) }
                        var expected = packet
                        let verdict = Self.decapsulation[Int(inner)][Int(outer)]
                        if let verdict {
                            expected[1] = expected[1] & ~(3 << shift) | verdict << shift
                            if !isIPv6 { Self.writeChecksum(&expected) }
                        }
                        // Bits other than the last two do not count.
                        let mark = outer | UInt8(random.below(64)) << 2
                        let goesOn = Self.apply(mark, to: &packet, isIPv6: isIPv6)
                        if goesOn != (verdict != nil) || packet != expected {
                            Issue.record("seed \(seed), round \(round): inner \(inner), outer \(outer)")
                        }
                    }
                }
            }
        }
    }

    @Test(
        "each of the 65,535 header checksums follows a mark",
        arguments: [(UInt8(2), UInt8(3)), (1, 3), (2, 1)])
    func everyChecksum(inner: UInt8, outer: UInt8) {
        var packet: [UInt8] = [0x45, inner, 0, 20, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]
        var checksums: Set<Int> = []
        var mismatches: [Int] = []
        for identification in 0...0xFFFF {
            packet[1] = inner
            packet[4] = UInt8(identification >> 8)
            packet[5] = UInt8(identification & 255)
            Self.writeChecksum(&packet)
            checksums.insert(Int(packet[10]) << 8 | Int(packet[11]))
            var expected = packet
            expected[1] = outer
            Self.writeChecksum(&expected)
            if !Self.apply(outer, to: &packet, isIPv6: false) || packet != expected {
                mismatches.append(identification)
            }
        }
        #expect(mismatches.isEmpty, "inner \(inner), outer \(outer)")
        #expect(checksums.count == 65_535)
    }

    @Test("a checksum that was wrong stays wrong")
    func wrongChecksum() {
        var packet = [UInt8](repeating: 7, count: 20)
        packet[0] = 0x45
        packet[1] = 2
        Self.writeChecksum(&packet)
        packet[11] ^= 1
        let goesOn = Self.apply(3, to: &packet, isIPv6: false)
        var right = packet
        Self.writeChecksum(&right)
        #expect(goesOn)
        #expect(packet[1] == 3)
        #expect(packet != right)
    }

    /// Reads the header in memory that ends where the packet ends.
    private static func header(_ packet: [UInt8]) -> IPPacket.Header? {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, packet.count), alignment: 1)
        defer { memory.deallocate() }
        memory.copyBytes(from: packet)
        guard let start = memory.baseAddress else { return nil }
        return IPPacket.header(of: start, byteCount: packet.count)
    }

    /// Applies the mark to the packet.
    private static func apply(_ outer: UInt8, to packet: inout [UInt8], isIPv6: Bool) -> Bool {
        packet.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return false }
            return IPPacket.applyOuterCongestion(outer, to: start, isIPv6: isIPv6)
        }
    }

    /// Sets a byte if the packet has it.
    private static func set(_ packet: inout [UInt8], _ index: Int, _ value: UInt8) {
        if index < packet.count { packet[index] = value }
    }

    /// Computes the IPv4 header checksum anew (RFC 791).
    private static func writeChecksum(_ packet: inout [UInt8]) {
        packet[10] = 0
        packet[11] = 0
        var sum = 0
        for index in stride(from: 0, to: Int(packet[0] & 15) * 4, by: 2) {
            sum += Int(packet[index]) << 8 | Int(packet[index + 1])
        }
        while sum > 0xFFFF { sum = sum >> 16 + sum & 0xFFFF }
        packet[10] = UInt8(~sum >> 8 & 255)
        packet[11] = UInt8(~sum & 255)
    }
}
