// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// The clocks of the host, in nanoseconds.
enum HostClock {
    /// The time since boot, sleep included.
    static var boot: Int64 { read(CLOCK_BOOTTIME) }

    /// The time since boot that the host was asleep.
    static var asleep: Int64 {
        // Read in this order, the difference is never too large by the time between the two.
        let boot = read(CLOCK_BOOTTIME)
        return max(0, boot - read(CLOCK_MONOTONIC))
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
