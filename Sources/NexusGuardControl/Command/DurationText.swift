// SPDX-License-Identifier: MIT

/// Spans of time as people write them.
package enum DurationText {
    /// Reads a whole number and a unit: `ms`, `s`, `m`, `h` or `d`; without a unit, seconds.
    ///
    /// - Returns: `nil` for anything else, and beyond a hundred years.
    package static func parse(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, let number = Int64(digits) else { return nil }
        let milliseconds: Int64
        switch text[digits.endIndex...] {
        case "ms": milliseconds = 1
        case "", "s": milliseconds = 1000
        case "m": milliseconds = 60_000
        case "h": milliseconds = 3_600_000
        case "d": milliseconds = 86_400_000
        default: return nil
        }
        let (product, hasOverflown) = number.multipliedReportingOverflow(by: milliseconds)
        guard !hasOverflown, product <= 36_525 * 86_400_000 else { return nil }
        return .milliseconds(product)
    }
}
