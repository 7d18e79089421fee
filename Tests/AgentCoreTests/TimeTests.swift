// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import Harness
import Testing

@Suite("times of headers and documents")
struct TimeTests {
    /// 6 November 1994, 08:49:37 UTC: the example of RFC 9110.
    private static let example = Date(timeIntervalSince1970: 784_111_777)
    private static let now = Date(timeIntervalSince1970: 1_767_225_600)

    @Test(
        "the three forms of an HTTP date are read",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ])
    func forms(_ text: String) {
        #expect(HTTPDate.date(text, now: Self.now) == Self.example)
    }

    @Test("a year of two digits is at most 50 years ahead")
    func shortYears() {
        // 2026 now: 76 is 2076, 77 is 1977.
        let ahead = HTTPDate.date("Wednesday, 01-Jan-76 00:00:00 GMT", now: Self.now)
        #expect(ahead == Date(timeIntervalSince1970: 3_345_062_400))
        let past = HTTPDate.date("Saturday, 01-Jan-77 00:00:00 GMT", now: Self.now)
        #expect(past == Date(timeIntervalSince1970: 220_924_800))
    }

    @Test(
        "what is no HTTP date is refused",
        arguments: [
            "", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT+1",
            " Sun, 06 Nov 1994 08:49:37 GMT",
            "1994-11-06T08:49:37Z", "Sun Nov 06 08:49:37 94", "Sunday, 06-Nov-1994 08:49:37 GMT",
        ])
    func refusedDates(_ text: String) {
        #expect(HTTPDate.date(text, now: Self.now) == nil)
    }

    @Test("random times are written and read as Foundation does", arguments: 0..<10 as Range<UInt64>)
    func foundation(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let style = Date.ISO8601FormatStyle()
        for _ in 0..<500 {
            // From the year 1 to 9999; Foundation's calendar is Julian before 1582.
            let seconds = Double(Int64.random(in: -12_000_000_000...253_402_300_799, using: &random))
            let date = Date(timeIntervalSince1970: seconds)
            let text = RFC3339.text(date)
            #expect(text == date.formatted(style))
            #expect(RFC3339.date(text) == date)
        }
    }

    @Test(
        "offsets, fractions and lower case are read",
        arguments: [
            ("1985-04-12T23:20:50.52Z", 482_196_050.52), ("1996-12-19T16:39:57-08:00", 851_042_397),
            ("1990-12-31T23:59:60Z", 662_688_000), ("1937-01-01T12:00:27.87+00:20", -1_041_337_172.13),
            ("2000-02-29t00:00:00z", 951_782_400), ("1970-01-01T00:00:00-00:00", 0),
            ("2026-06-26T09:00:00.123456789123Z", 1_782_464_400.123456789),
        ])
    func rfc3339(_ text: String, _ seconds: Double) throws {
        let date = try #require(RFC3339.date(text))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_001)
    }

    @Test(
        "what is no RFC 3339 time is refused",
        arguments: [
            "", "2026-06-26", "2026-06-26T09:00:00", "2026-06-26 09:00:00Z", "2026-06-26T09:00Z",
            "2026-6-26T09:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01T00:00:61Z",
            "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+0100",
            "2026-01-01T00:00:00Zz", "+2026-01-01T00:00:00Z", "２026-01-01T00:00:00Z",
        ])
    func refusedTimes(_ text: String) {
        #expect(RFC3339.date(text) == nil)
    }

    @Test("times that the form cannot write become the nearest one that it can")
    func bounds() {
        #expect(RFC3339.text(Date(timeIntervalSince1970: 1e18)) == "9999-12-31T23:59:59Z")
        #expect(RFC3339.text(Date(timeIntervalSince1970: -1e18)) == "0000-01-01T00:00:00Z")
        #expect(RFC3339.text(Date(timeIntervalSince1970: -0.5)) == "1969-12-31T23:59:59Z")
    }

    @Test(
        "Retry-After is read as seconds or as a date",
        arguments: [
            ("120", 120), ("0", 0), (" 7\t", 7), ("3600", 3600), ("Thu, 01 Jan 2026 00:02:00 GMT", 120),
            ("Thu, 01 Jan 2026 00:00:00 GMT", 0), ("Wed, 31 Dec 2025 23:00:00 GMT", 0),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 0),
        ])
    func retryAfter(_ value: String, _ seconds: Int) {
        #expect(RetryAfter.delay(value, now: Self.now) == .seconds(seconds))
    }

    @Test(
        "an absurd Retry-After is cut to an hour",
        arguments: [
            "3601", "31536000", "99999999999999999999999999", "Fri, 01 Jan 2027 00:00:00 GMT",
            "Fri, 31 Dec 9999 23:59:59 GMT",
        ])
    func absurd(_ value: String) {
        #expect(RetryAfter.delay(value, now: Self.now) == .seconds(3600))
    }

    @Test(
        "a Retry-After that is neither is ignored",
        arguments: [
            "", " ", "-1", "+1", "1.5", "1e3", "soon", "0x10", "120 s", "２0", "Thu, 01 Jan 2026", "NaN",
        ])
    func ignored(_ value: String) {
        #expect(RetryAfter.delay(value, now: Self.now) == nil)
    }
}
