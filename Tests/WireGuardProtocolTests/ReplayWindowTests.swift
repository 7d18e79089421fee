// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardProtocol

@Suite("ReplayWindow")
struct ReplayWindowTests {
    /// The largest distance below the highest counter, and the first counter that is never accepted.
    private static let reach: UInt64 = 8_128
    private static let limit = UInt64.max - 8_192

    private struct File: Decodable {
        struct Sequence: Decodable {
            let name: String
            let counters: [String]
            let accept: [Bool]
        }
        let window: UInt64
        let limit: String
        let sequences: [Sequence]
    }

    /// The counter filter as its definition: the set of all counters seen.
    private struct Model {
        var seen: Set<UInt64> = []
        var highest: UInt64 = 0

        mutating func accept(_ counter: UInt64) -> Bool {
            guard counter < limit, counter >= highest || highest - counter <= reach else { return false }
            guard seen.insert(counter).inserted else { return false }
            highest = max(highest, counter)
            return true
        }
    }

    @Test("the known sequences get the known answers")
    func knownSequences() throws {
        let file = try Fixture.load("vectors/replay_window.json", as: File.self)
        #expect(file.window == Self.reach)
        #expect(file.limit == String(Self.limit))
        #expect(!file.sequences.isEmpty)
        for sequence in file.sequences {
            var window = ReplayWindow()
            var answers: [Bool] = []
            for text in sequence.counters {
                let counter = try #require(UInt64(text))
                answers.append(window.accept(counter))
            }
            #expect(answers == sequence.accept, "sequence '\(sequence.name)'")
        }
    }

    @Test("the window ends 8,128 below the highest counter, wherever that counter is in its word")
    func edges() {
        let distances: [UInt64] =
            [0, 1, 2, 31, 32, 33, 62, 63, 64, 65, 127, 128, 4_096, 8_063, 8_064, 8_065]
            + [8_126, 8_127, 8_128, 8_129, 8_130, 8_190, 8_191, 8_192, 8_193, 8_256, 16_384, 65_536]
        for highest in UInt64(1_000_000)...1_000_064 {
            for distance in distances {
                var window = ReplayWindow()
                let first = window.accept(highest)
                let below = window.accept(highest - distance)
                let again = window.accept(highest - distance)
                #expect(first)
                #expect(below == (distance > 0 && distance <= Self.reach), "\(highest) then -\(distance)")
                #expect(!again)
            }
        }
    }

    @Test("every counter of the whole window is accepted once after a jump over any number of words")
    func jumps() {
        for jump: UInt64 in [1, 63, 64, 65, 8_128, 8_191, 8_192, 8_193, 19_200, 1 << 40] {
            var window = ReplayWindow()
            var model = Model()
            var mismatches: [UInt64] = []
            let start: UInt64 = 20_000
            for counter in start - 9_000...start where window.accept(counter) != model.accept(counter) {
                mismatches.append(counter)
            }
            let highest = start + jump
            for counter in [highest] + Array(highest - 8_200...highest) {
                if window.accept(counter) != model.accept(counter) { mismatches.append(counter) }
            }
            #expect(mismatches.isEmpty, "jump of \(jump)")
        }
    }

    @Test("counters shuffled in blocks of 8,000 are each accepted once", arguments: [UInt64(1), 2, 3])
    func shuffled(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let all = Array(UInt64(0)...20_000)
        var order: [UInt64] = []
        for start in stride(from: 0, to: all.count, by: 8_000) {
            order += all[start..<min(start + 8_000, all.count)].shuffled(using: &random)
        }
        var window = ReplayWindow()
        var refused = 0
        var repeated = 0
        for counter in order {
            if !window.accept(counter) { refused += 1 }
            if window.accept(counter) { repeated += 1 }
        }
        for counter in order where window.accept(counter) { repeated += 1 }
        #expect(refused == 0, "seed \(seed)")
        #expect(repeated == 0, "seed \(seed)")
    }

    @Test("after a jump of 2^40 nothing from before it is accepted")
    func farJump() {
        var window = ReplayWindow()
        let start = (0..<100).map { window.accept(UInt64($0)) }
        let far = window.accept(1 << 40)
        let old = [50, 100, 8_192, (1 << 40) - 8_129, 1 << 40].map { window.accept($0) }
        let inside = window.accept((1 << 40) - 8_128)
        #expect(!start.contains(false))
        #expect(far)
        #expect(!old.contains(true))
        #expect(inside)
    }

    @Test("a counter at the limit is never accepted and does not move the window")
    func atTheLimit() {
        var window = ReplayWindow()
        let beyond = [Self.limit, Self.limit + 1, .max].map { window.accept($0) }
        let first = window.accept(0)
        let last = window.accept(Self.limit - 1)
        let again = window.accept(Self.limit)
        #expect(!beyond.contains(true))
        #expect(first)
        #expect(last)
        #expect(!again)
    }

    @Test("a million random steps get the answers of a set of all counters", arguments: [UInt64(21)])
    func randomSteps(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var window = ReplayWindow()
        var model = Model()
        var mismatch: (step: Int, counter: UInt64)?
        for step in 0..<1_000_000 {
            let draw = random.next()
            let amount = draw >> 32
            let counter: UInt64
            switch draw & 0xFFFF {
            case 0..<4: counter = model.highest &+ (1 << (amount % 41))
            case 4..<400: counter = model.highest &+ amount % 20_000
            case 400..<20_000: counter = model.highest &+ amount % 70
            case 20_000..<30_000: counter = model.highest &- min(model.highest, 8_100 + amount % 60)
            default: counter = model.highest &- min(model.highest, amount % 8_300)
            }
            if window.accept(counter) != model.accept(counter) {
                mismatch = (step, counter)
                break
            }
        }
        #expect(mismatch == nil, "seed \(seed), at \(String(describing: mismatch))")
    }
}
