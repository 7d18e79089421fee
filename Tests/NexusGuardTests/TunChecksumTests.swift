// SPDX-License-Identifier: MIT

import CChecksum
import NexusGuard
import Testing
import WireGuardSimulation

@Suite("the checksum of IPv4, TCP and UDP")
struct TunChecksumTests {
    /// The ways that the processor has, narrowest first; `nil` is the one for headers.
    private static let widths: [checksum_width?] = [
        nil, checksum_width_any, checksum_width_avx2, checksum_width_avx512,
    ].filter { $0.map { $0.rawValue <= checksum_widest().rawValue } ?? true }

    @Test("equals the sum of one word after the other, for every length and alignment", arguments: 1...4)
    func equalsNaive(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let bytes = (0..<2_100).map { _ in UInt8.random(in: 0...255, using: &random) }
        for length in 0...300 {
            for start in 0...9 {
                let part = Array(bytes[start..<start + length])
                let expected = TunTestPacket.fold(TunTestPacket.sum(part))
                for width in Self.widths {
                    #expect(Self.fast(bytes, start, length, width) == expected, "seed \(seed)")
                }
            }
        }
        for _ in 0..<50 {
            let start = Int.random(in: 0...8, using: &random)
            let length = Int.random(in: 0...2_000, using: &random)
            let part = Array(bytes[start..<start + length])
            let expected = TunTestPacket.fold(TunTestPacket.sum(part))
            for width in Self.widths {
                #expect(Self.fast(bytes, start, length, width) == expected, "seed \(seed)")
            }
        }
    }

    @Test("carries are added in, up to the largest packet of only ones")
    func carries() {
        let ones = [UInt8](repeating: 0xFF, count: 65_535)
        for width in Self.widths {
            #expect(Self.fast(ones, 0, 65_534, width) == 0xFFFF)
            #expect(Self.fast(ones, 0, 65_535, width) == TunTestPacket.fold(TunTestPacket.sum(ones)))
        }
        #expect(InternetChecksum.fold(.max) == 0xFFFF)
        #expect(InternetChecksum.fold(0) == 0)
        #expect(InternetChecksum.fold(0xFFFF_FFFF_0000_0000) == 0xFFFF)
        #expect(InternetChecksum.fold(0x1_0000_0000) == 1)
        #expect(InternetChecksum.fold(0x0001_FFFF) == 1)
    }

    /// The example of RFC 1071, section 3: the words 0001 f203 f4f5 f6f7 sum up to ddf2.
    @Test("gives the sum of the example in RFC 1071")
    func example() {
        for width in Self.widths {
            #expect(Self.fast([0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7], 0, 8, width) == 0xDDF2)
        }
    }

    @Test("copying with the sum copies every byte and none beside them, for every length and alignment")
    func copies() {
        var random = SeededRandom(seed: 5)
        let source = (0..<2_100).map { _ in UInt8.random(in: 0...255, using: &random) }
        for length in Array(0...300) + [1_368, 1_419, 1_420, 2_000] {
            for start in 0...4 {
                let part = Array(source[start..<start + length])
                for width in Self.widths {
                    guard let width else { continue }
                    var destination = [UInt8](repeating: 0xA5, count: length + 16)
                    let sum = destination.withUnsafeMutableBytes { destination in
                        source.withUnsafeBytes { source in
                            checksum_copy(
                                width, destination.baseAddress.map { $0 + 8 },
                                source.baseAddress.map { $0 + start }, length)
                        }
                    }
                    let edge = [UInt8](repeating: 0xA5, count: 8)
                    #expect(destination == edge + part + edge)
                    let expected = TunTestPacket.fold(TunTestPacket.sum(part))
                    #expect(UInt16(bigEndian: InternetChecksum.fold(sum)) == expected)
                }
            }
        }
    }

    private static func fast(
        _ bytes: [UInt8], _ start: Int, _ length: Int, _ width: checksum_width?
    ) -> UInt16 {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            let sum =
                width.map { checksum_sum($0, base + start, length) }
                ?? InternetChecksum.sum(base + start, length)
            return UInt16(bigEndian: InternetChecksum.fold(sum))
        }
    }
}
