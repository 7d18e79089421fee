// SPDX-License-Identifier: MIT

/// Text from outside in messages, logs and terminals.
package enum ShownText {
    /// The most bytes of a value that a message repeats.
    private static let longestValue = 64
    /// The longest run of letters and digits that a message repeats; keys and tokens are longer.
    private static let longestRun = 20

    /// Whether a text is safe to print: no control, format or private character and no line separator.
    ///
    /// Format characters could turn the direction of the text around them or hide parts of it.
    package static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                false
            default: true
            }
        }
    }

    /// The text with a question mark in place of everything that `isPlain` refuses, cut to `limit` characters.
    package static func plain(_ text: String, limit: Int = 200) -> String {
        var result = ""
        for character in text.prefix(limit) {
            result += isPlain(String(character)) ? String(character) : "?"
        }
        return text.dropFirst(limit).isEmpty ? result : result + "…"
    }

    /// A refused value in quotes, or words in its place when it could hold a key, is long, or is not plain ASCII.
    package static func value(_ text: some StringProtocol) -> String {
        let utf8 = text.utf8
        guard !utf8.isEmpty else { return "an empty value" }
        guard utf8.count <= longestValue else { return "a value of \(utf8.count) bytes" }
        var run = 0
        for byte in utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                run += 1
            case 32...126: run = 0
            default: return "a value with unprintable characters"
            }
            guard run <= longestRun else { return "a value that may be a key" }
        }
        return "'\(text)'"
    }

    /// The name of a field if it looks like one; words in its place otherwise.
    package static func name(_ text: String) -> String {
        let isName =
            (1...longestRun).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 65...90, 97...122, UInt8(ascii: "_"): true
                default: false
                }
            }
        return isName ? text : "(unknown field)"
    }
}
