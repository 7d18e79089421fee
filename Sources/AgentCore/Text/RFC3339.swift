// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// Points in time as RFC 3339 writes them.
public enum RFC3339 {
    /// The form `2026-01-31T09:00:00Z`, in UTC; fractions of a second are cut off.
    ///
    /// Years outside 0 to 9999 become the nearest one that the form can write.
    public static func text(_ date: Date) -> String {
        let seconds = min(max(date.timeIntervalSince1970.rounded(.down), -62_167_219_200), 253_402_300_799)
        let time = CivilTime(secondsSince1970: Int64(seconds))
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(padded(time.year, 4))-\(padded(time.month, 2))-\(padded(time.day, 2))"
            + "T\(padded(time.hour, 2)):\(padded(time.minute, 2)):\(padded(time.second, 2))Z"
    }

    /// Reads the form `2026-01-31T09:00:00Z`, with or without a fraction, with `Z` or an offset such as `+02:00`.
    ///
    /// A second of 60, a leap second, is read as the first of the next minute.
    public static func date(_ text: String) -> Date? {
        var reader = DigitReader(text)
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T") || reader.take("t"), let hour = reader.number(2),
            reader.take(":"), let minute = reader.number(2), reader.take(":"), let second = reader.number(2)
        else { return nil }
        var fraction = 0.0
        if reader.take(".") {
            guard let value = reader.fraction() else { return nil }
            fraction = value
        }
        var offset = 0
        if !reader.take("Z"), !reader.take("z") {
            let isBehind = reader.take("-")
            guard isBehind || reader.take("+"), let hours = reader.number(2), hours <= 23, reader.take(":"),
                let minutes = reader.number(2), minutes <= 59
            else { return nil }
            offset = (isBehind ? -1 : 1) * (hours * 3600 + minutes * 60)
        }
        guard reader.isAtEnd,
            let time = CivilTime(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        return Date(timeIntervalSince1970: Double(time.secondsSince1970 - Int64(offset)) + fraction)
    }
}
