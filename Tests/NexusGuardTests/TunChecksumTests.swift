// SPDX-License-Identifier: MIT

import NexusGuard
import Testing
import WireGuardSimulation

@Suite("the checksum of IPv4, TCP and UDP")
struct TunChecksumTests {
    @Test("equals the sum of one word after the other, for every length and alignment", arguments: 1...4)
    func equalsNaive(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let bytes = (0..<2_100).map { _ in UInt8.random(in: 0...255, using: &random) }
        for length in 0...200 {
            for start in 0...9 {
                let part = Array(bytes[start..<start + length])
                let expected = TunTestPacket.fold(TunTestPacket.sum(part))
                #expect(Self.fast(bytes, start, length) == expected, "seed \(seed)")
            }
        }
        for _ in 0..<50 {
            let start = Int.random(in: 0...8, using: &random)
            let length = Int.random(in: 0...2_000, using: &random)
            let part = Array(bytes[start..<start + length])
            let expected = TunTestPacket.fold(TunTestPacket.sum(part))
            #expect(Self.fast(bytes, start, length) == expected, "seed \(seed)")
        }
    }

    @Test("carries are added in, up to the largest packet of only ones")
    func carries() {
        let ones = [UInt8](repeating: 0xFF, count: 65_535)
        #expect(Self.fast(ones, 0, 65_534) == 0xFFFF)
        #expect(Self.fast(ones, 0, 65_535) == TunTestPacket.fold(TunTestPacket.sum(ones)))
        #expect(InternetChecksum.fold(.max) == 0xFFFF)
        #expect(InternetChecksum.fold(0) == 0)
        #expect(InternetChecksum.fold(0xFFFF_FFFF_0000_0000) == 0xFFFF)
        #expect(InternetChecksum.fold(0x1_0000_0000) == 1)
        #expect(InternetChecksum.fold(0x0001_FFFF) == 1)
    }

    /// The example of RFC 1071, section 3: the words 0001 f203 f4f5 f6f7 sum up to ddf2.
    @Test("gives the sum of the example in RFC 1071")
    func example() {
        #expect(Self.fast([0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7], 0, 8) == 0xDDF2)
    }

    private static func fast(_ bytes: [UInt8], _ start: Int, _ length: Int) -> UInt16 {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            return UInt16(bigEndian: InternetChecksum.fold(InternetChecksum.sum(base + start, length)))
        }
    }
}
