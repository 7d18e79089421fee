// SPDX-License-Identifier: MIT

/// Reads ASCII text of a fixed form from front to back.
struct DigitReader {
    private var rest: Substring.UTF8View

    /// Starts with a text.
    init(_ text: some StringProtocol) {
        rest = Substring(text).utf8
    }

    /// Whether nothing is left.
    var isAtEnd: Bool { rest.isEmpty }

    /// Reads a decimal number of exactly so many digits.
    mutating func number(_ count: Int) -> Int? {
        guard rest.count >= count else { return nil }
        var value = 0
        for byte in rest.prefix(count) {
            guard (48...57).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 48)
        }
        rest = rest.dropFirst(count)
        return value
    }

    /// Reads one to nine digits behind a decimal point; further ones are stepped over.
    mutating func fraction() -> Double? {
        var value = 0.0
        var scale = 0.1
        var count = 0
        while let byte = rest.first, (48...57).contains(byte) {
            if count < 9 {
                value += Double(byte - 48) * scale
                scale /= 10
            }
            count += 1
            rest = rest.dropFirst()
        }
        return count > 0 ? value : nil
    }

    /// Steps over `text` if it comes next; case counts.
    mutating func take(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard rest.count >= count,
            rest.prefix(count).elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: count))
        else { return false }
        rest = rest.dropFirst(count)
        return true
    }

    /// Steps over letters and gives them.
    mutating func letters() -> String {
        let letters = rest.prefix { (65...90).contains($0) || (97...122).contains($0) }
        rest = rest.dropFirst(letters.count)
        return String(letters) ?? ""
    }
}
