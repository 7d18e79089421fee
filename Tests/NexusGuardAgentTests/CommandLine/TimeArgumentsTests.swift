// SPDX-License-Identifier: MIT

import AgentCommandLine
import FoundationEssentials
import Glibc
import Testing

@testable internal import nexusguard

@Suite("times on the command line")
struct TimeArgumentsTests {
    @Test(
        "spans have units, seconds without",
        arguments: [
            ("30", 30), ("0", 0), ("90s", 90), ("5m", 300), ("5min", 300), ("2h", 7200), ("1d", 86_400),
            ("1h30m", 5400), ("1h30", 3630),
        ])
    func span(text: String, seconds: Int) {
        #expect(TimeSpan.parse(text) == .seconds(seconds))
    }

    @Test(
        "what is no span is refused",
        arguments: ["", "s", "-5", "5 m", "1.5h", "5w", "99999999999", "9999999999d", "٣"])
    func noSpan(text: String) {
        #expect(TimeSpan.parse(text) == nil)
    }

    @Test("instants are spans back from now or RFC 3339")
    func instants() {
        let now = Date(timeIntervalSince1970: 1_782_464_400)
        #expect(TimeArguments.instant("10m", now: now) == now.addingTimeInterval(-600))
        #expect(TimeArguments.instant("2026-06-26T09:00:00Z", now: now) == now)
        #expect(TimeArguments.instant("2026-06-26T11:00:00+02:00", now: now) == now)
        #expect(TimeArguments.instant("2026-06-26t09:00:00.500z", now: now) == now.addingTimeInterval(0.5))
        for text in ["", "yesterday", "25:00", "2026-13-01", "14:30:00x", "2026-06-26T09:00:00Zx"] {
            #expect(TimeArguments.instant(text, now: now) == nil, "\(text)")
        }
    }

    @Test("dates and times of day are local, and a time of day is never ahead")
    func local() throws {
        var fields = tm()
        fields.tm_year = 126
        fields.tm_mon = 5
        fields.tm_mday = 26
        fields.tm_hour = 14
        fields.tm_min = 30
        fields.tm_isdst = -1
        let afternoon = Date(timeIntervalSince1970: TimeInterval(mktime(&fields)))
        #expect(TimeArguments.instant("2026-06-26 14:30", now: afternoon) == afternoon)
        #expect(TimeArguments.instant("2026-06-26T14:30:00", now: afternoon) == afternoon)
        #expect(TimeArguments.instant("2026-06-26", now: afternoon) == afternoon.addingTimeInterval(-52_200))
        #expect(TimeArguments.instant("14:30", now: afternoon) == afternoon)
        #expect(TimeArguments.instant("14:29:59", now: afternoon) == afternoon.addingTimeInterval(-1))
        let yesterday = try #require(TimeArguments.instant("14:31", now: afternoon))
        #expect(yesterday == afternoon.addingTimeInterval(60 - 86_400))
    }
}
