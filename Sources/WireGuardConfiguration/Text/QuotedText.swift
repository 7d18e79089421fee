// SPDX-License-Identifier: MIT

/// How refused input is shown in a message.
enum QuotedText {
    /// The most characters of a value that a message repeats.
    private static let longestValue = 80
    /// The longest run of letters and digits that a message repeats; keys in base64 or hexadecimal are longer.
    private static let longestRun = 30

    /// The value in quotes, or words in its place when it could hold a key, is long, or is not plain text.
    static func value(_ text: RawSpan) -> String {
        guard text.byteCount > 0 else { return "an empty value" }
        guard text.byteCount <= longestValue else { return "a value of \(text.byteCount) bytes" }
        var run = 0
        for index in 0..<text.byteCount {
            let byte = text.byte(index)
            guard (32...126).contains(byte) else { return "a value with unprintable characters" }
            switch byte {
            case 48...57, 65...90, 97...122: run += 1
            // Base64 and its form for addresses on the web.
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                run += 1
            default: run = 0
            }
            guard run <= longestRun else { return "a value that may be a key" }
        }
        return "'\(text.string)'"
    }

    /// The name of a key if it looks like one; otherwise words in its place, since a secret may stand there.
    static func key(_ text: RawSpan) -> String {
        guard (1...longestRun).contains(text.byteCount) else { return "(no key)" }
        for index in 0..<text.byteCount {
            switch text.byte(index) {
            case 65...90, 97...122, UInt8(ascii: "_"): break
            default: return "(no key)"
            }
        }
        return text.string
    }
}
