// SPDX-License-Identifier: MIT

package import FoundationEssentials

/// The clocks of the agent.
package protocol AgentClock: Sendable {
    /// The time since an origin that stays the same while the agent runs.
    var now: Duration { get }
    /// The wall time, which may jump.
    var date: Date { get }
    /// Waits until `now` is at least this.
    ///
    /// - Returns: Whether it is; `false` when the task was cancelled.
    func sleep(until instant: Duration) async -> Bool
}

/// The clocks of the system.
package struct SystemAgentClock: AgentClock {
    private let origin = ContinuousClock.now

    /// Creates the clocks; `now` begins at 0.
    package init() {}

    package var now: Duration { ContinuousClock.now - origin }

    package var date: Date { Date() }

    package func sleep(until instant: Duration) async -> Bool {
        // A sleep may end a little early, and a deadline must not be seen before it has come.
        while now < instant {
            do {
                try await Task.sleep(until: origin + instant, tolerance: .zero, clock: .continuous)
            } catch {
                return false
            }
        }
        return !Task.isCancelled
    }
}
