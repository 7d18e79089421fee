// SPDX-License-Identifier: MIT

internal import AgentCommandLine
internal import FoundationEssentials
internal import Glibc

/// Reads instants as people type them.
enum TimeArguments {
    /// Reads an instant: a span before `now`, RFC 3339, or a local date, time of day, or both.
    ///
    /// - Returns: `nil` for anything else. A time of day is the last one that is not after `now`.
    static func instant(_ text: String, now: Date) -> Date? {
        if let span = TimeSpan.parse(text) {
            let (seconds, attoseconds) = span.components
            return now.addingTimeInterval(-Double(seconds) - Double(attoseconds) / 1e18)
        }
        if let date = rfc3339(text) { return date }
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == " " || $0 == "T" }
        var fields = broken(now)
        var time = [0, 0, 0]
        let isTimeAlone = parts.count == 1 && text.contains(":")
        if !isTimeAlone {
            guard let day = numbers(parts[0], separator: "-", widths: [[4], [2], [2]]),
                (1...12).contains(day[1]), (1...31).contains(day[2])
            else { return nil }
            fields.tm_year = Int32(day[0] - 1900)
            fields.tm_mon = Int32(day[1] - 1)
            fields.tm_mday = Int32(day[2])
        }
        if isTimeAlone || parts.count == 2 {
            guard let read = timeOfDay(parts[parts.count - 1]) else { return nil }
            time = read
        }
        fields.tm_hour = Int32(time[0])
        fields.tm_min = Int32(time[1])
        fields.tm_sec = Int32(time[2])
        guard isTimeAlone, let today = date(fields), today > now else { return date(fields) }
        fields.tm_mday -= 1
        return date(fields)
    }

    private static func rfc3339(_ text: String) -> Date? {
        // The parser below ignores what follows the zone.
        let tail = text.dropFirst(19)
        let zone = tail.first == "." ? tail.dropFirst().drop { $0.isASCII && $0.isNumber } : tail
        guard zone.count == 6 || zone.lowercased() == "z" else { return nil }
        let plain = Date.ISO8601FormatStyle()
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let upper = text.uppercased()
        return (try? plain.parse(upper)) ?? (try? fractional.parse(upper))
    }

    private static func broken(_ date: Date) -> tm {
        var seconds = time_t(date.timeIntervalSince1970)
        var result = tm()
        localtime_r(&seconds, &result)
        return result
    }

    /// Reads `HH:MM` or `HH:MM:SS`.
    private static func timeOfDay(_ text: Substring) -> [Int]? {
        let full = text.count > 5 ? text : text + ":00"
        guard let time = numbers(full, separator: ":", widths: [[1, 2], [2], [2]]),
            time[0] < 24, time[1] < 60, time[2] < 60
        else { return nil }
        return time
    }

    /// Reads numbers with one of the given counts of digits each.
    private static func numbers(_ text: Substring, separator: Character, widths: [[Int]]) -> [Int]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count == widths.count else { return nil }
        var result: [Int] = []
        for (part, width) in zip(parts, widths) {
            guard width.contains(part.count), part.utf8.allSatisfy({ (48...57).contains($0) }),
                let number = Int(part)
            else { return nil }
            result.append(number)
        }
        return result
    }

    /// The instant of local time, whether summer time holds or not.
    private static func date(_ fields: tm) -> Date? {
        var fields = fields
        fields.tm_isdst = -1
        let seconds = mktime(&fields)
        return seconds == -1 ? nil : Date(timeIntervalSince1970: TimeInterval(seconds))
    }
}
