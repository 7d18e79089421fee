// SPDX-License-Identifier: MIT

internal import WireGuardProtocol

/// Decides when a loop that may run ahead of other programs does so.
///
/// Only a busy loop does: one that wakes now and then finds a processor soon in any case, and the kernel places
/// normal threads better. A busy loop gets back in line with everybody else when what keeps it from resting is
/// mostly refused packets, or when there is no second processor for the others, so that nobody outside can take
/// the host away from its programs.
struct PriorityGuard {
    /// What the loop has done since it started.
    struct Work {
        /// The packets that it has moved or refused.
        var packetCount: UInt64 = 0
        /// The packets among them that it has refused.
        var refusedCount: UInt64 = 0
    }

    /// How long a loop may run ahead of the others without rest before its work is looked at, in nanoseconds.
    static let longestRun: Int64 = 10_000_000
    /// How long a loop must go on without rest to be busy, in nanoseconds.
    static let shortestRun: Int64 = 1_000_000
    /// How long a loop that was sent back stays in line with the others at the least, in nanoseconds.
    static let penalty: Int64 = 100_000_000
    /// How long a loop that is no longer busy stays ahead, in nanoseconds.
    static let patience: Int64 = 100_000_000

    /// Whether the loop is to run ahead of the others.
    private(set) var isAhead = false
    private let hasOtherProcessors: Bool
    /// When the loop last came to rest, or when its work was last looked at.
    private var lastRest: Int64 = 0
    /// When the loop was last busy.
    private var lastBusy: Int64 = 0
    /// Until when the loop stays in line.
    private var penaltyEnd: Int64 = 0
    /// What the loop had done when it got ahead or its work was last looked at.
    private var former = Work()

    /// Starts with a loop in line.
    ///
    /// - Parameter hasOtherProcessors: Whether other programs can run while the loop does.
    init(hasOtherProcessors: Bool) {
        self.hasOtherProcessors = hasOtherProcessors
    }

    /// Takes in what the loop is about to do.
    ///
    /// - Parameters:
    ///   - rests: Whether it comes to rest, or goes on without.
    ///   - isBusy: Whether it rests only for moments; one that goes on for long without rest is busy as well.
    ///   - work: What it has done; asked for only when that matters.
    /// - Returns: Whether `isAhead` has changed.
    mutating func note(rests: Bool, isBusy: Bool, at now: Instant, work: () -> Work) -> Bool {
        let now = now.nanoseconds
        let isBusy = isBusy || !rests && now - lastRest > Self.shortestRun
        if rests { lastRest = now }
        if isBusy { lastBusy = now }
        if !isAhead {
            guard isBusy, now >= penaltyEnd else { return false }
            isAhead = true
            lastRest = now
            former = work()
            return true
        }
        if rests {
            isAhead = now - lastBusy < Self.patience
        } else if now - lastRest > Self.longestRun {
            let present = work()
            let packets = present.packetCount &- former.packetCount
            let refused = present.refusedCount &- former.refusedCount
            lastRest = now
            former = present
            if !hasOtherProcessors || refused > packets / 2 {
                isAhead = false
                penaltyEnd = now + Self.penalty
            }
        }
        return !isAhead
    }
}
