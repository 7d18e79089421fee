// SPDX-License-Identifier: MIT

internal import WireGuardProtocol

/// Keeps a busy loop from waking for every packet, as a network card moderates its interrupts.
///
/// A wake costs the processor several times what a packet costs. Under a stream of packets the loop therefore
/// wakes at most once in an interval and finds more packets each time. A few wakes in quick succession are free,
/// so that a question and its answer are never held up.
struct WakeLimiter {
    /// The shortest time between two wakes of a busy loop, in nanoseconds.
    static let interval: Int64 = 250_000
    /// How long the loop must have slept for its free wakes to come back, in nanoseconds.
    static let silence: Int64 = 1_000_000
    /// How many wakes may follow the one before them sooner than the interval.
    static let freeWakes = 8

    private var lastWake: Int64 = -silence
    private var freeWakesLeft = freeWakes

    init() {}

    /// Takes in that the loop has woken.
    mutating func noteWake(at now: Instant) {
        let elapsed = now.nanoseconds - lastWake
        lastWake = now.nanoseconds
        if elapsed >= Self.silence {
            freeWakesLeft = Self.freeWakes
        } else if elapsed < Self.interval, freeWakesLeft > 0 {
            freeWakesLeft -= 1
        }
    }

    /// How long the loop should leave its descriptors alone before it waits for them again, in nanoseconds.
    ///
    /// - Returns: 0 to `interval`.
    func pause(at now: Instant) -> Int64 {
        guard freeWakesLeft == 0 else { return 0 }
        return min(max(lastWake + Self.interval - now.nanoseconds, 0), Self.interval)
    }

    /// Whether the loop has used up its free wakes.
    var isBusy: Bool { freeWakesLeft == 0 }
}
