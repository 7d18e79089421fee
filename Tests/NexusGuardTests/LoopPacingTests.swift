// SPDX-License-Identifier: MIT

import Testing
import WireGuardProtocol

@testable import NexusGuard

@Suite("Pace of the loop")
struct LoopPacingTests {
    private func instant(microseconds: Int64) -> Instant { Instant(nanoseconds: microseconds * 1_000) }

    @Test("a question and its answer every 10 ms are never held up")
    func questionsAreFree() {
        var limiter = WakeLimiter()
        for question in 0..<1_000 {
            let now = Int64(question) * 10_000
            // A wake for the question, one for the answer and one for the link's own traffic.
            for delay: Int64 in [0, 20, 150] {
                #expect(limiter.pause(at: instant(microseconds: now + delay)) == 0)
                limiter.noteWake(at: instant(microseconds: now + delay))
            }
        }
    }

    @Test("a loop that finds packets whenever it looks wakes once in 250 us, after eight free wakes")
    func streamIsModerated() {
        var limiter = WakeLimiter()
        var now: Int64 = 0
        var wakes = 0
        while now < 1_000_000_000 {
            now += limiter.pause(at: Instant(nanoseconds: now))
            limiter.noteWake(at: Instant(nanoseconds: now))
            wakes += 1
            now += 5_000
        }
        #expect((4_000...4_010).contains(wakes))
    }

    @Test("no pause is longer than the interval, and after a rest there is none")
    func pausesAreBounded() {
        var limiter = WakeLimiter()
        for _ in 0..<1_000 {
            limiter.noteWake(at: instant(microseconds: 1))
            #expect((0...250_000).contains(limiter.pause(at: instant(microseconds: 1))))
        }
        #expect(limiter.pause(at: instant(microseconds: 1)) == 250_000)
        #expect(limiter.pause(at: instant(microseconds: 400)) == 0)
    }

    /// A guard of yields, and the clock of its loop.
    private struct Turns {
        var yielding = YieldGuard()
        var microseconds: Int64 = 5_000_000

        var now: Instant { Instant(nanoseconds: microseconds * 1_000) }
        var allowsYield: Bool { yielding.allowsYield(at: now) }

        /// A turn of so many packets and microseconds, with a yield if there may be one.
        mutating func turn(_ packetCount: Int, lasting duration: Int64 = 60) {
            if allowsYield { yielding.noteYield(at: now) }
            microseconds += duration
            yielding.noteTurn(packetCount: packetCount, endedAt: now)
        }
    }

    @Test("a loop yields once eight lone questions in a row have come, and no longer when more comes at once")
    func yieldsForQuestions() {
        var turns = Turns()
        for interruption in [(count: 3, after: 10_000), (count: 1, after: 939)] {
            for question in 0..<8 {
                #expect(!turns.allowsYield)
                turns.microseconds += 940
                turns.turn(1 + question % 2)
                // An answer comes by the network.
                turns.turn(0)
            }
            for _ in 0..<100 {
                turns.microseconds += 10_000
                #expect(turns.allowsYield)
                turns.turn(2)
            }
            turns.microseconds += Int64(interruption.after)
            turns.turn(interruption.count)
        }
        #expect(!turns.allowsYield)
    }

    @Test("after a long turn with a yield there is none for a second, and for twice as long each time")
    func longYieldsAreRare() {
        var turns = Turns()
        for _ in 0..<8 { turns.turn(1, lasting: 10_000) }
        turns.microseconds += 1_000
        #expect(turns.allowsYield, "turns without a yield may be long")
        for seconds: Int64 in [1, 2, 4, 8, 16, 32, 64, 64] {
            turns.turn(0, lasting: 301)
            turns.microseconds += seconds * 1_000_000 - 1
            #expect(!turns.allowsYield)
            turns.microseconds += 1
            #expect(turns.allowsYield)
        }
        // Each short one halves what the next long one costs.
        for _ in 0..<5 { turns.turn(0, lasting: 300) }
        turns.turn(0, lasting: 4_000)
        turns.microseconds += 1_999_999
        #expect(!turns.allowsYield)
        turns.microseconds += 1
        for _ in 0..<20 { turns.turn(0) }
        turns.turn(0, lasting: 4_000)
        turns.microseconds += 1_000_000
        #expect(turns.allowsYield)
    }

    /// A guard, and the work of its loop.
    private final class Subject {
        var priority: PriorityGuard
        var work = PriorityGuard.Work()

        init(hasOtherProcessors: Bool = true) {
            priority = PriorityGuard(hasOtherProcessors: hasOtherProcessors)
        }

        func note(rests: Bool, isBusy: Bool, microseconds: Int64) -> Bool {
            let now = Instant(nanoseconds: microseconds * 1_000)
            return priority.note(rests: rests, isBusy: isBusy, at: now) { work }
        }
    }

    @Test("a loop gets ahead of other programs once it is busy, and stays there while it rests now and then")
    func busyLoopGetsAhead() {
        let subject = Subject()
        #expect(!subject.note(rests: true, isBusy: false, microseconds: 0))
        #expect(!subject.priority.isAhead)
        #expect(subject.note(rests: true, isBusy: true, microseconds: 500))
        #expect(subject.priority.isAhead)
        for turn in 1...10_000 {
            // Refused packets do not matter to a loop that rests.
            subject.work.packetCount += 10
            subject.work.refusedCount += 10
            let rests = turn % 9 == 0
            #expect(!subject.note(rests: rests, isBusy: rests, microseconds: Int64(turn) * 1_000))
        }
        #expect(subject.priority.isAhead)
    }

    @Test("a loop that is busy no longer gets back in line after 100 ms")
    func idleLoopGetsBack() {
        let subject = Subject()
        _ = subject.note(rests: true, isBusy: true, microseconds: 0)
        #expect(!subject.note(rests: true, isBusy: false, microseconds: 99_999))
        #expect(subject.note(rests: true, isBusy: false, microseconds: 100_000))
        #expect(!subject.priority.isAhead)
        // There is no penalty for that.
        #expect(subject.note(rests: true, isBusy: true, microseconds: 100_001))
    }

    @Test("a loop without rest stays ahead while it moves packets, and gets in line when most are refused")
    func floodedLoopGetsInLine() {
        let subject = Subject()
        _ = subject.note(rests: true, isBusy: true, microseconds: 0)
        subject.work.packetCount = 1_000
        subject.work.refusedCount = 500
        #expect(!subject.note(rests: false, isBusy: false, microseconds: 10_001))
        #expect(subject.priority.isAhead)
        // Only what came since the last look counts.
        subject.work.packetCount = 1_100
        subject.work.refusedCount = 551
        #expect(!subject.note(rests: false, isBusy: false, microseconds: 20_001))
        #expect(subject.note(rests: false, isBusy: false, microseconds: 20_002))
        #expect(!subject.priority.isAhead)
        #expect(!subject.note(rests: true, isBusy: true, microseconds: 120_001))
        #expect(!subject.note(rests: false, isBusy: false, microseconds: 121_001))
        #expect(!subject.priority.isAhead)
        #expect(subject.note(rests: true, isBusy: true, microseconds: 121_002))
        #expect(subject.priority.isAhead)
    }

    @Test("a loop that goes on for more than 1 ms is busy even if it never rests")
    func longRunIsBusy() {
        let subject = Subject()
        _ = subject.note(rests: true, isBusy: false, microseconds: 0)
        #expect(!subject.note(rests: false, isBusy: false, microseconds: 1_000))
        #expect(subject.note(rests: false, isBusy: false, microseconds: 1_001))
        #expect(subject.priority.isAhead)
    }

    @Test("a loop with the only processor gets in line when it has not rested for 10 ms")
    func singleProcessor() {
        let subject = Subject(hasOtherProcessors: false)
        #expect(subject.note(rests: true, isBusy: true, microseconds: 0))
        #expect(!subject.note(rests: false, isBusy: false, microseconds: 10_000))
        #expect(subject.note(rests: false, isBusy: false, microseconds: 10_001))
        #expect(!subject.priority.isAhead)
    }
}
