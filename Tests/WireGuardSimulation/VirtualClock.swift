// SPDX-License-Identifier: MIT

internal import Synchronization
package import WireGuardProtocol

/// Wall time that a test sets, and that may go backwards.
package final class VirtualWallClock: Sendable {
    private let offset: Mutex<Int64>
    private let monotonic: Mutex<Int64>

    /// A wall clock that shows so many seconds since 1970 at the origin of monotonic time.
    package init(seconds: Int64 = 1_800_000_000) {
        offset = Mutex(seconds * 1_000_000_000)
        monotonic = Mutex(0)
    }

    /// What the clock shows.
    package var now: WallTime {
        let nanoseconds = offset.withLock { $0 } + monotonic.withLock { $0 }
        return WallTime(
            seconds: nanoseconds / 1_000_000_000, nanoseconds: UInt32(nanoseconds % 1_000_000_000))
    }

    /// Moves with monotonic time.
    package func advance(to instant: Instant) {
        monotonic.withLock { $0 = instant.nanoseconds }
    }

    /// Sets the clock forward or back.
    package func shift(by interval: Interval) {
        offset.withLock { $0 += interval.nanoseconds }
    }
}
