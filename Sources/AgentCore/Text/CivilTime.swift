// SPDX-License-Identifier: MIT

/// A date and time of day in UTC, in the Gregorian calendar, year 0 to 9999.
struct CivilTime: Hashable {
    /// Days from the start of year 0 to the start of 1970.
    private static let epoch = daysBefore(year: 1970)

    let year: Int
    let month: Int
    let day: Int
    let hour: Int
    let minute: Int
    let second: Int

    /// Takes the parts; `nil` when there is no such date or time of day.
    ///
    /// - Parameter second: 0 to 60; a leap second counts as the one behind it.
    init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (0...9999).contains(year), (1...12).contains(month),
            (1...Self.dayCount(year, month)).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// The time so many seconds behind the start of 1970; times outside the years 0 to 9999 become the nearest inside.
    init(secondsSince1970 seconds: Int64) {
        let seconds = min(max(seconds, -62_167_219_200), 253_402_300_799)
        // Counted from year 0, nothing is negative.
        let total = Int(seconds) + Self.epoch * 86_400
        let secondOfDay = total % 86_400
        hour = secondOfDay / 3600
        minute = secondOfDay / 60 % 60
        second = secondOfDay % 60
        let days = total / 86_400
        // A year has at most 366 days, so this is never too late a year, and at most a few too early.
        var year = days / 366
        while Self.daysBefore(year: year + 1) <= days { year += 1 }
        var rest = days - Self.daysBefore(year: year)
        var month = 1
        while rest >= Self.dayCount(year, month) {
            rest -= Self.dayCount(year, month)
            month += 1
        }
        self.year = year
        self.month = month
        day = rest + 1
    }

    /// The seconds since the start of 1970, without leap seconds.
    var secondsSince1970: Int64 {
        let months = (1..<month).reduce(0) { $0 + Self.dayCount(year, $1) }
        let days = Self.daysBefore(year: year) + months + day - 1 - Self.epoch
        return Int64(days * 86_400 + hour * 3600 + minute * 60 + second)
    }

    /// The days from the start of year 0, which is a leap year, to the start of a later year.
    private static func daysBefore(year: Int) -> Int {
        guard year > 0 else { return 0 }
        let last = year - 1
        return 365 * year + last / 4 - last / 100 + last / 400 + 1
    }

    /// The number of days of a month.
    private static func dayCount(_ year: Int, _ month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
