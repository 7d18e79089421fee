// SPDX-License-Identifier: MIT

internal import WireGuardProtocol

/// Decides whether a loop that a program's packet woke first lets that program finish.
///
/// The kernel often runs the woken loop at once, in place of the program that is about to wait for its answer.
/// While that program is still runnable, the kernel wakes who comes next on another processor, and to wake one
/// that sleeps takes longer than all the loop does for the packet. A loop that yields has the processor back
/// after microseconds. Where other programs want the processor that takes as long as their time slices, so a loop
/// that had to wait does not yield again for a while.
struct YieldGuard {
    /// The longest wait that is worth it, in nanoseconds.
    static let longestWait: Int64 = 100_000
    /// How long a loop that waited longer does not yield, the first time, in nanoseconds.
    static let shortestPenalty: Int64 = 1_000_000_000
    /// How long it does not yield after many such waits, in nanoseconds.
    static let longestPenalty: Int64 = 64_000_000_000

    private var penalty = shortestPenalty
    /// Until when the loop does not yield.
    private var penaltyEnd: Int64 = 0

    init() {}

    /// Whether the loop is to yield.
    func allowsYield(at now: Instant) -> Bool {
        now.nanoseconds >= penaltyEnd
    }

    /// Takes in how long the loop was without the processor.
    mutating func noteYield(from start: Instant, to end: Instant) {
        if end.nanoseconds - start.nanoseconds > Self.longestWait {
            penaltyEnd = end.nanoseconds + penalty
            penalty = min(2 * penalty, Self.longestPenalty)
        } else {
            penalty = max(penalty / 2, Self.shortestPenalty)
        }
    }
}
