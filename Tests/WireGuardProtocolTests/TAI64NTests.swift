// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardProtocol

@Suite("TAI64N")
struct TAI64NTests {
    /// The part of `primitives.json` about timestamps.
    struct Content: Decodable {
        struct Case: Decodable {
            let unix_seconds: String
            let nanoseconds: UInt32
            let tai64n: HexBytes
        }
        let tai64n: [Case]
    }

    @Test("the bytes of the vectors come out, and read back as the same timestamp")
    func vectors() throws {
        let cases = try Fixture.load("vectors/primitives.json", as: Content.self).tai64n
        #expect(!cases.isEmpty)
        for vector in cases {
            let seconds = try #require(Int64(vector.unix_seconds))
            let stamp = TAI64N(precise: WallTime(seconds: seconds, nanoseconds: vector.nanoseconds))
            #expect(stamp.array == vector.tai64n.bytes)
            #expect(TAI64N(vector.tai64n.bytes) == stamp)
            // Whitened: the low 24 bits of the nanoseconds are zero, the rest is unchanged.
            let whitened = TAI64N(WallTime(seconds: seconds, nanoseconds: vector.nanoseconds)).array
            #expect(whitened == vector.tai64n.bytes[..<9] + [0, 0, 0])
        }
    }

    @Test("timestamps compare as their bytes do")
    func order() {
        // Equal but for one or two bytes, with values on both sides of the sign bit.
        let base = (0..<12).map { UInt8($0 * 20) }
        for first in 0..<12 {
            for second in 0..<12 {
                for value: UInt8 in [0, 1, 127, 128, 255] {
                    var left = base
                    var right = base
                    left[first] = value
                    right[second] = 255 - value
                    let expected = left.lexicographicallyPrecedes(right)
                    #expect((TAI64N(left) < TAI64N(right)) == expected, "\(left) \(right)")
                }
            }
        }
    }

    @Test("the next step is the smallest whitened timestamp that is larger")
    func nextStep() {
        let step: UInt32 = 1 << 24
        for nanoseconds: UInt32 in [0, 1, step - 1, step, step + 1, 58 * step, 59 * step - 1] {
            let wall = WallTime(seconds: 5, nanoseconds: nanoseconds)
            let expected = WallTime(seconds: 5, nanoseconds: (nanoseconds / step + 1) * step)
            #expect(TAI64N(precise: wall).next() == TAI64N(precise: expected))
        }
        for nanoseconds in [59 * step, 59 * step + 1, 999_999_999] {
            let wall = WallTime(seconds: 5, nanoseconds: nanoseconds)
            #expect(TAI64N(precise: wall).next() == TAI64N(precise: WallTime(seconds: 6, nanoseconds: 0)))
        }
        let largest = TAI64N([UInt8](repeating: 255, count: 12))
        #expect(largest.next() == largest)
        let absurd = TAI64N([UInt8](repeating: 0, count: 8) + [255, 255, 255, 255])
        #expect(absurd.next() > absurd)
    }

    @Test("a source gives larger timestamps whether the clock runs, stands still or goes back two days")
    func monotonic() {
        var source = TimestampSource()
        var last = source.next(at: WallTime(seconds: 1_700_000_000, nanoseconds: 500_000_000))
        var clocks: [WallTime] = []
        for index in 0..<200 {
            clocks.append(WallTime(seconds: 1_700_000_000, nanoseconds: 500_000_000 + UInt32(index)))
        }
        for index in 0..<200 {
            clocks.append(WallTime(seconds: 1_699_827_200 + Int64(index), nanoseconds: 0))
        }
        for index in 0..<200 {
            clocks.append(WallTime(seconds: 1_700_000_100 + Int64(index), nanoseconds: 999_999_999))
        }
        for (index, wall) in clocks.enumerated() {
            let next = source.next(at: wall)
            #expect(next > last, "call \(index)")
            #expect(next.array[9...].allSatisfy { $0 == 0 }, "call \(index) is whitened")
            last = next
        }
        #expect(source.floor == last)
    }

    @Test("a source started with a kept timestamp goes above it although the clock is two days behind")
    func keptFloor() {
        let present = WallTime(seconds: 1_700_000_000, nanoseconds: 123_456_789)
        let kept = TAI64N(present)
        var source = TimestampSource(floor: kept)
        let first = source.next(at: WallTime(seconds: present.seconds - 172_800, nanoseconds: 0))
        #expect(first == kept.next())
        #expect(first > kept)
        #expect(source.next(at: WallTime(seconds: present.seconds + 5, nanoseconds: 0)) > first)
    }
}
