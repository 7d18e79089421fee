// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// The dates of HTTP headers such as `Date` and `Retry-After` (RFC 9110 section 5.6.7).
public enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longDays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]

    /// Reads the form `Sun, 06 Nov 1994 08:49:37 GMT` and the two obsolete ones that receivers must still know.
    ///
    /// A year of two digits is the one at most 50 years ahead of `now`. The name of the day must be one, but need
    /// not be the right one.
    public static func date(_ text: String, now: Date = Date()) -> Date? {
        var reader = DigitReader(text)
        let dayName = reader.letters()
        if days.contains(dayName), reader.take(", ") {
            guard let day = reader.number(2), reader.take(" "), let month = month(&reader), reader.take(" "),
                let year = reader.number(4), reader.take(" "), let time = time(&reader), reader.take(" GMT"),
                reader.isAtEnd
            else { return nil }
            return date(year, month, day, time)
        }
        if longDays.contains(dayName), reader.take(", ") {
            guard let day = reader.number(2), reader.take("-"), let month = month(&reader), reader.take("-"),
                let shortYear = reader.number(2), reader.take(" "), let time = time(&reader),
                reader.take(" GMT"), reader.isAtEnd
            else { return nil }
            let seconds = min(max(now.timeIntervalSince1970, 0), 253_402_300_799)
            let thisYear = CivilTime(secondsSince1970: Int64(seconds)).year
            var year = thisYear - thisYear % 100 + shortYear
            if year > thisYear + 50 { year -= 100 }
            return date(year, month, day, time)
        }
        if days.contains(dayName), reader.take(" ") {
            guard let month = month(&reader), reader.take(" "),
                let day = reader.take(" ") ? reader.number(1) : reader.number(2), reader.take(" "),
                let time = time(&reader), reader.take(" "), let year = reader.number(4), reader.isAtEnd
            else { return nil }
            return date(year, month, day, time)
        }
        return nil
    }

    /// Reads the name of a month and gives its number.
    private static func month(_ reader: inout DigitReader) -> Int? {
        let name = reader.letters()
        return months.firstIndex(of: name).map { $0 + 1 }
    }

    private static func time(_ reader: inout DigitReader) -> (hour: Int, minute: Int, second: Int)? {
        guard let hour = reader.number(2), reader.take(":"), let minute = reader.number(2), reader.take(":"),
            let second = reader.number(2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func date(
        _ year: Int, _ month: Int, _ day: Int, _ time: (hour: Int, minute: Int, second: Int)
    ) -> Date? {
        CivilTime(
            year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second
        ).map { Date(timeIntervalSince1970: Double($0.secondsSince1970)) }
    }
}
