// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// Lets one thread wait for others, or for a moment.
final class WakeUp: Sendable {
    private let descriptor: Int32

    /// Creates a signal that was not given; `nil` when the system has no descriptor left.
    init?() {
        descriptor = eventfd(0, linux_eventfd_flags)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Ends the wait under way, or the next one.
    func signal() {
        var one: UInt64 = 1
        // A full counter (EAGAIN) has woken the thread already.
        _ = write(descriptor, &one, 8)
    }

    /// Waits for a signal or until a moment; `nil` waits for a signal alone. It may return without either.
    func wait(until deadline: ContinuousClock.Instant?) {
        var milliseconds: Int32 = -1
        if let deadline {
            let (seconds, attoseconds) = ContinuousClock.now.duration(to: deadline).components
            let bounded = min(max(seconds, 0), 3600) * 1000 + max(attoseconds / 1_000_000_000_000_000, 0)
            // Rounded up, or the thread would turn without rest in the last millisecond.
            milliseconds = Int32(bounded) + 1
        }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return }
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
