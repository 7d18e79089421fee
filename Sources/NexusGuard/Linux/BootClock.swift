// SPDX-License-Identifier: MIT

internal import Glibc
package import WireGuardProtocol

/// The monotonic clock of the engine, which goes on while the machine sleeps.
package enum BootClock {
    /// The time since the machine started, as `CLOCK_BOOTTIME` counts it.
    package static func now() -> Instant {
        var time = timespec()
        let result = clock_gettime(CLOCK_BOOTTIME, &time)
        precondition(result == 0, "every Linux since 2.6.39 has CLOCK_BOOTTIME")
        return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }
}
