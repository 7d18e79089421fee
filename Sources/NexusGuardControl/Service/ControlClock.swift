// SPDX-License-Identifier: MIT

internal import CLinux
package import FoundationEssentials
internal import Glibc

/// Where the server's times come from.
package struct ControlClock: Sendable {
    /// The wall time.
    package var now: @Sendable () -> Date
    /// A time that never goes backwards.
    package var monotonic: @Sendable () -> Duration
    /// Waits; returns early when the task is cancelled.
    package var sleep: @Sendable (Duration) async -> Void

    /// Creates a clock of given times.
    package init(
        now: @escaping @Sendable () -> Date, monotonic: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async -> Void
    ) {
        self.now = now
        self.monotonic = monotonic
        self.sleep = sleep
    }

    /// The clock of the system; the monotonic one counts suspended time.
    package static let system = ControlClock(
        now: { Date() },
        monotonic: {
            var time = timespec()
            clock_gettime(CLOCK_BOOTTIME, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        },
        sleep: { try? await Task.sleep(for: $0) })
}
