// SPDX-License-Identifier: MIT

import Testing

@testable import AgentHost

@Suite("Pace of looks")
struct LookPaceTests {
    private static let second: Int64 = 1_000_000_000
    private static let half = second / 2

    /// A pace by reference, since a check may not change what it looks at.
    private final class Subject {
        private var pace = LookPace<String>()

        func noteNews(at now: Int64) { pace.noteNews(at: now) }
        func lookAtOnce(at now: Int64) { pace.lookAtOnce(at: now) }
        func begins(at now: Int64) -> Bool { pace.begins(at: now) }
        func noteLook(_ picture: String, at now: Int64) -> String? { pace.noteLook(picture, at: now) }
        func noteFailure(at now: Int64) { pace.noteFailure(at: now) }
        func takeSeen() -> String? { pace.takeSeen() }
        func deadline(at now: Int64) -> Int64? { pace.deadline(at: now) }
    }

    @Test("what changed is looked at half a second after the last news, and counts if no news follows")
    func rest() {
        let pace = Subject()
        #expect(pace.deadline(at: 0) == nil)
        #expect(!pace.begins(at: 10 * Self.second))
        pace.noteNews(at: 10 * Self.second)
        pace.noteNews(at: 10 * Self.second + 300_000_000)
        let due = 10 * Self.second + 800_000_000
        #expect(pace.deadline(at: 10 * Self.second) == due)
        #expect(!pace.begins(at: due - 1))
        #expect(pace.begins(at: due))
        #expect(!pace.begins(at: due), "one look at a time")
        #expect(pace.noteLook("seen", at: due + 5) == nil)
        #expect(pace.deadline(at: due + 5) == due + 5, "news is asked for at once")
        #expect(pace.takeSeen() == "seen")
        #expect(pace.takeSeen() == nil)
        #expect(pace.deadline(at: due + 5) == nil)
    }

    @Test("a look that news came in on does not count, and is made again")
    func halfSeen() {
        let pace = Subject()
        pace.noteNews(at: 0)
        #expect(pace.begins(at: Self.half))
        #expect(pace.noteLook("half", at: Self.half) == nil)
        pace.noteNews(at: Self.half + 1)
        #expect(pace.takeSeen() == nil)
        #expect(pace.deadline(at: Self.half + 1) == Self.second + 1)
        #expect(pace.begins(at: Self.second + 1))
        #expect(pace.noteLook("whole", at: Self.second + 2) == nil)
        #expect(pace.takeSeen() == "whole")
    }

    @Test("what never rests is looked at after two seconds, and that look counts", arguments: [1, 100, 499])
    func unrest(milliseconds: Int64) {
        let pace = Subject()
        var counted: [Int64] = []
        for now in stride(from: Int64(0), to: 10 * Self.second, by: Int(milliseconds * 1_000_000)) {
            pace.noteNews(at: now)
            #expect(pace.takeSeen() == nil)
            if pace.begins(at: now), pace.noteLook("unrest", at: now) != nil { counted.append(now) }
        }
        // The first news after a look that counted begins the next two seconds.
        #expect((3...4).contains(counted.count))
        for (index, time) in counted.enumerated() {
            let start = index == 0 ? 0 : counted[index - 1]
            #expect((2 * Self.second...2 * Self.second + 2 * milliseconds * 1_000_000).contains(time - start))
        }
    }

    @Test("news after looks that did not count cannot put the next one off for more than two seconds")
    func halfSeenAgainAndAgain() {
        let pace = Subject()
        var now: Int64 = 0
        var looks = 0
        var counted = false
        pace.noteNews(at: now)
        while !counted, now < 10 * Self.second {
            now = pace.deadline(at: now) ?? .max
            guard pace.begins(at: now) else { break }
            looks += 1
            counted = pace.noteLook("half", at: now) != nil
            if !counted { pace.noteNews(at: now) }
        }
        #expect(counted)
        #expect(now == 2 * Self.second)
        #expect(looks == 4)
    }

    @Test("a look that is asked for is made at once, and again if it is asked for while one is made")
    func atOnce() {
        let pace = Subject()
        pace.lookAtOnce(at: 7)
        #expect(pace.deadline(at: 7) == 7)
        #expect(pace.begins(at: 7))
        pace.lookAtOnce(at: 8)
        #expect(pace.noteLook("of before", at: 9) == nil)
        #expect(pace.takeSeen() == nil)
        #expect(pace.begins(at: 9))
        #expect(pace.noteLook("of now", at: 10) == nil)
        #expect(pace.takeSeen() == "of now")
    }

    @Test("a look that comes to nothing is made again after half a second, and then counts")
    func failure() {
        let pace = Subject()
        pace.lookAtOnce(at: 0)
        #expect(pace.begins(at: 0))
        pace.noteFailure(at: 0)
        #expect(!pace.begins(at: Self.half - 1))
        #expect(pace.begins(at: Self.half))
        #expect(pace.noteLook("seen", at: Self.half) == "seen")
    }

    @Test("news does not put off a look that was asked for, nor does what is asked put off the end of unrest")
    func asked() {
        let pace = Subject()
        pace.lookAtOnce(at: 0)
        pace.noteNews(at: 1)
        #expect(pace.begins(at: 1))
        // News and requests during each look: the first look after two seconds counts all the same.
        var now: Int64 = 1
        var counted: String?
        while counted == nil, now < 10 * Self.second {
            pace.lookAtOnce(at: now)
            now += Self.half
            #expect(pace.noteLook("half", at: now) == nil)
            #expect(pace.begins(at: now))
            if now > 2 * Self.second { counted = pace.noteLook("whole", at: now) }
        }
        #expect(counted == "whole")
        #expect(now == 2 * Self.second + 1)
    }

    @Test("a look that comes to nothing does not put off one that was asked for meanwhile")
    func failureOfAsked() {
        let pace = Subject()
        pace.noteNews(at: 0)
        #expect(pace.begins(at: Self.half))
        pace.lookAtOnce(at: Self.half + 1)
        pace.noteFailure(at: Self.half + 2)
        #expect(pace.begins(at: Self.half + 2))
        #expect(pace.noteLook("seen", at: Self.half + 3) == "seen")
    }
}
