// SPDX-License-Identifier: MIT

/// A span of monotonic time in nanoseconds.
package struct Interval: Hashable, Comparable, Sendable {
    /// The length; may be negative.
    package let nanoseconds: Int64

    /// A span of so many nanoseconds.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// A span of so many seconds.
    package static func seconds(_ count: Int64) -> Interval { Interval(nanoseconds: count &* 1_000_000_000) }

    /// A span of so many milliseconds.
    package static func milliseconds(_ count: Int64) -> Interval { Interval(nanoseconds: count &* 1_000_000) }

    package static func < (left: Interval, right: Interval) -> Bool { left.nanoseconds < right.nanoseconds }

    package static func + (left: Interval, right: Interval) -> Interval {
        Interval(nanoseconds: left.nanoseconds &+ right.nanoseconds)
    }

    package static func * (left: Interval, factor: Int64) -> Interval {
        Interval(nanoseconds: left.nanoseconds &* factor)
    }
}

/// A point in monotonic time that goes on while the machine sleeps (`CLOCK_BOOTTIME`).
package struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since an arbitrary origin.
    package let nanoseconds: Int64

    /// A point so many nanoseconds after the origin.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    package static func + (left: Instant, right: Interval) -> Instant {
        Instant(nanoseconds: left.nanoseconds &+ right.nanoseconds)
    }

    package static func - (left: Instant, right: Instant) -> Interval {
        Interval(nanoseconds: left.nanoseconds &- right.nanoseconds)
    }
}

/// A point in wall time, as `CLOCK_REALTIME` gives it; it may go backwards.
package struct WallTime: Hashable, Sendable {
    /// Whole seconds since 1970.
    package let seconds: Int64
    /// 0 to 999,999,999.
    package let nanoseconds: UInt32

    /// A point in wall time.
    package init(seconds: Int64, nanoseconds: UInt32) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }
}
