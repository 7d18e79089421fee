// SPDX-License-Identifier: MIT

internal import WireGuardProtocol

/// Decides whether a loop that a program's packet woke first lets that program finish.
///
/// The kernel often runs the woken loop at once, in place of the program that is about to wait for its answer.
/// While that program is still runnable, the kernel wakes who comes next on another processor, and to wake one
/// that sleeps takes longer than all the loop does for the packet.
///
/// A yield is meant for a program that asks and waits. One that goes on to send would fill the interface's queue
/// while the loop is out of its turn, and where others want the processor the loop gets it back only after their
/// time slices. So the loop yields only while one lone question after another comes, and not for a while after a
/// turn with a yield that was long.
struct YieldGuard {
    /// How many lone questions in a row there must have been.
    static let enoughQuestions = 8
    /// The packets that a question has at most: itself, and what the host says beside it.
    static let mostPackets = 2
    /// How long no packet of the interface came before a lone question, in nanoseconds.
    static let silence: Int64 = 1_000_000
    /// The longest turn with a yield that is worth it, in nanoseconds.
    static let longestTurn: Int64 = 300_000
    /// How long a loop with a longer one does not yield, the first time, in nanoseconds.
    static let shortestPenalty: Int64 = 1_000_000_000
    /// How long it does not yield after many of them, in nanoseconds.
    static let longestPenalty: Int64 = 64_000_000_000

    /// The lone questions since anything else came.
    private var questionCount = 0
    /// The end of the last turn with packets.
    private var lastPackets: Int64 = 0
    /// When the present turn yielded, if it did.
    private var yieldStart: Int64?
    private var penalty = shortestPenalty
    /// Until when the loop does not yield.
    private var penaltyEnd: Int64 = 0

    init() {}

    /// Whether the loop is to yield in the turn that begins.
    func allowsYield(at now: Instant) -> Bool {
        questionCount >= Self.enoughQuestions && now.nanoseconds >= penaltyEnd
    }

    /// Takes in that the loop is about to yield.
    mutating func noteYield(at now: Instant) {
        yieldStart = now.nanoseconds
    }

    /// Takes in that the loop comes to rest again.
    ///
    /// - Parameter packetCount: The packets of the interface since it last did.
    mutating func noteTurn(packetCount: Int, endedAt now: Instant) {
        if packetCount > 0 {
            let isLone = packetCount <= Self.mostPackets && now.nanoseconds - lastPackets >= Self.silence
            questionCount = isLone ? min(questionCount + 1, Self.enoughQuestions) : 0
            lastPackets = now.nanoseconds
        }
        guard let start = yieldStart else { return }
        yieldStart = nil
        if now.nanoseconds - start > Self.longestTurn {
            penaltyEnd = now.nanoseconds + penalty
            penalty = min(2 * penalty, Self.longestPenalty)
        } else {
            penalty = max(penalty / 2, Self.shortestPenalty)
        }
    }
}
