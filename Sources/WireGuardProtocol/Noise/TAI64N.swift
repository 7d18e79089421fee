// SPDX-License-Identifier: MIT

/// The timestamp of an initiation: 12 bytes, compared as a big-endian number.
///
/// Eight bytes of 2^62 + 10 + UNIX seconds, four bytes of nanoseconds, both big-endian. Receivers never
/// interpret it; each initiation must carry a larger one than the one before (section 5.1).
package struct TAI64N: Hashable, Comparable, Sendable {
    /// The number of bytes on the wire.
    package static let byteCount = 12

    /// The first eight bytes as a number.
    private let label: UInt64
    /// The last four bytes as a number.
    private let nanoseconds: UInt32

    /// Creates a timestamp from its two numbers.
    private init(label: UInt64, nanoseconds: UInt32) {
        self.label = label
        self.nanoseconds = nanoseconds
    }

    /// The timestamp of a point in wall time, to the nanosecond.
    package init(precise wall: WallTime) {
        self.init(label: Self.epoch &+ UInt64(bitPattern: wall.seconds), nanoseconds: wall.nanoseconds)
    }

    /// The timestamp of a point in wall time, its nanoseconds rounded down to a multiple of 2^24.
    ///
    /// A precise clock reading would help whoever measures this host's clock or load; 16.8 ms are enough to
    /// order initiations.
    package init(_ wall: WallTime) {
        self.init(precise: WallTime(seconds: wall.seconds, nanoseconds: wall.nanoseconds & Self.stepMask))
    }

    /// Reads 12 bytes.
    package init(rawBytes bytes: RawSpan) {
        precondition(bytes.byteCount == Self.byteCount, "a timestamp has 12 bytes")
        label = UInt64(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self))
        nanoseconds = UInt32(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt32.self))
    }

    /// Calls `body` with the 12 bytes.
    package func withBytes<Result: ~Copyable>(_ body: (RawSpan) -> Result) -> Result {
        let words: [3 of UInt32] = [
            UInt32(truncatingIfNeeded: label >> 32).bigEndian, UInt32(truncatingIfNeeded: label).bigEndian,
            nanoseconds.bigEndian,
        ]
        return unsafe body(words.span.bytes)
    }

    /// The next larger timestamp whose nanoseconds are a multiple of 2^24.
    ///
    /// The largest timestamp of all has none and gives itself.
    package func next() -> TAI64N {
        let step = UInt64(nanoseconds & Self.stepMask) + UInt64(~Self.stepMask) + 1
        if step < 1_000_000_000 { return TAI64N(label: label, nanoseconds: UInt32(truncatingIfNeeded: step)) }
        guard label < .max else { return TAI64N(label: .max, nanoseconds: .max) }
        return TAI64N(label: label + 1, nanoseconds: 0)
    }

    package static func < (left: TAI64N, right: TAI64N) -> Bool {
        (left.label, left.nanoseconds) < (right.label, right.nanoseconds)
    }

    /// The label of 1970 began ten seconds before UNIX time did.
    private static let epoch: UInt64 = 0x4000_0000_0000_000A
    /// The bits of the nanoseconds that are kept.
    private static let stepMask: UInt32 = 0xFF00_0000
}

/// Gives timestamps for initiations, each larger than the one before, whatever the wall clock does.
package struct TimestampSource: Sendable {
    /// The largest timestamp given so far, or one kept from an earlier run; the next one is larger.
    package var floor: TAI64N?

    /// Starts above `floor`, if there is one.
    package init(floor: TAI64N? = nil) {
        self.floor = floor
    }

    /// The timestamp of `wall`, or the next one above `floor` when the clock went back or stood still.
    package mutating func next(at wall: WallTime) -> TAI64N {
        let present = TAI64N(wall)
        let result =
            if let floor, present <= floor { floor.next() } else { present }
        floor = result
        return result
    }
}
