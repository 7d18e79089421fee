// SPDX-License-Identifier: MIT

/// Lets a burst through and then one in each period (the generic cell rate algorithm).
package struct RateLimit: Hashable, Sendable {
    private let period: Duration
    private let tolerance: Duration
    /// When the bucket is empty again.
    private var emptyAt: Duration = .zero

    /// Creates a limit that has been idle.
    package init(burst: Int, period: Duration) {
        self.period = period
        tolerance = period * (burst - 1)
    }

    /// When the next one may pass, seen at `now`.
    package func nextAllowed(at now: Duration) -> Duration {
        max(now, emptyAt - tolerance)
    }

    /// Takes one if it may pass now.
    package mutating func take(at now: Duration) -> Bool {
        guard nextAllowed(at: now) <= now else { return false }
        emptyAt = max(emptyAt, now) + period
        return true
    }
}
