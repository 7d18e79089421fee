// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// The `Retry-After` header of an answer (RFC 9110 section 10.2.3).
public enum RetryAfter {
    /// The longest wait that a server can ask for; more is cut to this.
    public static let longest = Duration.seconds(3600)

    /// Reads a number of seconds or a date.
    ///
    /// - Parameters:
    ///   - value: The value of the header.
    ///   - now: The time that a date is compared with.
    /// - Returns: The wait, from none for a date in the past to `longest`; `nil` for anything else, such as text or a
    ///   negative number.
    public static func delay(_ value: String, now: Date = Date()) -> Duration? {
        var trimmed = value[...]
        while trimmed.first == " " || trimmed.first == "\t" { trimmed.removeFirst() }
        while trimmed.last == " " || trimmed.last == "\t" { trimmed.removeLast() }
        if !trimmed.isEmpty, trimmed.utf8.allSatisfy({ (48...57).contains($0) }) {
            // More digits than fit are a number beyond every limit.
            guard let seconds = Int64(trimmed) else { return longest }
            return min(.seconds(seconds), longest)
        }
        guard let date = HTTPDate.date(String(trimmed), now: now) else { return nil }
        let seconds = date.timeIntervalSince(now)
        return seconds <= 0 ? .zero : min(.seconds(min(seconds, 1_000_000)), longest)
    }
}
