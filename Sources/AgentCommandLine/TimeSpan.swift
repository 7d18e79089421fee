// SPDX-License-Identifier: MIT

/// Spans of time as people write them.
package enum TimeSpan {
    /// The longest one, 100 years.
    private static let longest = Duration.seconds(100 * 365 * 86_400)

    /// Reads a whole number with `ms`, `s`, `m` or `min`, `h` or `d`, seconds without; several may follow each other.
    ///
    /// - Returns: `nil` for anything else, and for spans of more than 100 years.
    package static func parse(_ text: String) -> Duration? {
        var rest = Substring(text)
        var total = Duration.zero
        guard !rest.isEmpty else { return nil }
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard digits.count <= 10, let number = Int64(digits) else { return nil }
            switch unit {
            case "ms": total += .milliseconds(number)
            case "s", "": total += .seconds(number)
            case "m", "min": total += .seconds(number * 60)
            case "h": total += .seconds(number * 3600)
            case "d": total += .seconds(number * 86_400)
            default: return nil
            }
        } while !rest.isEmpty
        return total <= longest ? total : nil
    }
}
