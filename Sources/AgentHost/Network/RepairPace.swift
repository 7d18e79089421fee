// SPDX-License-Identifier: MIT

internal import Synchronization

/// Keeps repairs from becoming a fight: the first is made at once, the next ones ever more seldom.
///
/// All instants are those of `HostClock.boot`.
final class RepairPace: Sendable {
    private struct State {
        var lastRepair: Int64?
        var pause: Int64 = 0
        var deadline: Int64?
    }

    private let state = Mutex(State())

    private static let shortestPause: Int64 = 100_000_000
    private static let longestPause: Int64 = 10_000_000_000
    /// After this time without a repair the next one is again made at once.
    private static let peace: Int64 = 30_000_000_000

    /// When a repair that was put off is due.
    var deadline: Int64? { state.withLock { $0.deadline } }

    /// Whether a repair that was put off is due now.
    func isDue(at now: Int64) -> Bool {
        state.withLock { state in state.deadline.map { $0 <= now } ?? false }
    }

    /// When to repair instead of now; `nil` when now is all right.
    func postpone(at now: Int64) -> Int64? {
        state.withLock { state in
            state.deadline = nil
            guard let last = state.lastRepair else { return nil }
            if now - last >= Self.peace {
                state.pause = 0
                return nil
            }
            guard now < last + state.pause else { return nil }
            state.deadline = last + state.pause
            return state.deadline
        }
    }

    /// Notes that something had to be put right.
    func noteRepair(at now: Int64) {
        state.withLock { state in
            state.lastRepair = now
            state.pause = min(Self.longestPause, max(Self.shortestPause, state.pause * 2))
        }
    }

    /// Notes that all was right.
    func settle() -> Int64? {
        state.withLock { $0.deadline = nil }
        return nil
    }

    /// When to try again what failed.
    func retry(at now: Int64) -> Int64 {
        state.withLock { state in
            let deadline = now + max(Self.shortestPause, state.pause)
            state.deadline = deadline
            return deadline
        }
    }
}
