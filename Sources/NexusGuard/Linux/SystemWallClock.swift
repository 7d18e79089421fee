// SPDX-License-Identifier: MIT

internal import Glibc
package import WireGuardProtocol

/// The wall clock of the machine; it may go backwards.
package enum SystemWallClock {
    /// The time since 1970, as `CLOCK_REALTIME` counts it.
    package static func now() -> WallTime {
        var time = timespec()
        let result = clock_gettime(CLOCK_REALTIME, &time)
        precondition(result == 0, "every Linux has CLOCK_REALTIME")
        return WallTime(seconds: Int64(time.tv_sec), nanoseconds: UInt32(truncatingIfNeeded: time.tv_nsec))
    }
}
