// SPDX-License-Identifier: MIT

/// How much room texts take on a terminal.
enum TextWidth {
    /// The number of columns, escape sequences for colours not counted.
    static func columns(_ text: String) -> Int {
        var scanner = Scanner()
        return text.unicodeScalars.reduce(0) { $0 + scanner.columns(of: $1) }
    }

    /// The text cut to so many columns; what is cut off shows as an ellipsis, and colours end at the end.
    static func cut(_ text: String, to limit: Int, ellipsis: String) -> String {
        guard columns(text) > limit else { return text }
        let room = max(0, limit - columns(ellipsis))
        var scanner = Scanner()
        var used = 0
        var result = ""
        var hasColour = false
        for scalar in text.unicodeScalars {
            let width = scanner.columns(of: scalar)
            if scalar == "\u{1b}" { hasColour = true }
            guard used + width <= room else { break }
            used += width
            result.unicodeScalars.append(scalar)
        }
        return result + (hasColour ? "\u{1b}[0m" : "") + (limit > 0 ? ellipsis : "")
    }

    /// A plain text in lines of so many columns, broken at blanks where possible; what is beyond the last line shows
    /// as an ellipsis.
    static func wrap(_ text: String, to limit: Int, lines most: Int, ellipsis: String = "…") -> [String] {
        var lines: [String] = []
        var line = ""
        var rest = text.split(separator: " ").map(String.init)[...]
        while let word = rest.popFirst() {
            let longer = line.isEmpty ? word : line + " " + word
            if columns(longer) <= limit {
                line = longer
            } else if line.isEmpty {
                let head = cut(word, to: limit, ellipsis: "")
                // Where not even one character fits, nothing more can be shown.
                guard !head.isEmpty else { return lines }
                lines.append(head)
                rest.insert(String(word.dropFirst(head.count)), at: rest.startIndex)
            } else {
                lines.append(line)
                line = ""
                rest.insert(word, at: rest.startIndex)
            }
        }
        if !line.isEmpty { lines.append(line) }
        guard lines.count > most, most > 0 else { return lines }
        let last = lines[(most - 1)...].joined(separator: " ")
        return lines[..<(most - 1)] + [cut(last, to: limit, ellipsis: ellipsis)]
    }

    /// Knows whether a scalar belongs to an escape sequence.
    private struct Scanner {
        private var isInSequence = false

        mutating func columns(of scalar: Unicode.Scalar) -> Int {
            if isInSequence {
                // ESC [ … letter
                if scalar.properties.isAlphabetic { isInSequence = false }
                return 0
            }
            if scalar == "\u{1b}" {
                isInSequence = true
                return 0
            }
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format, .control: return 0
            default: return TextWidth.isWide(scalar) ? 2 : 1
            }
        }
    }

    /// Whether a terminal gives the scalar two columns (Unicode Standard Annex 11: wide or fullwidth).
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0x1100: false
        case 0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x4dbf, 0x4e00...0xa4cf,
            0xa960...0xa97c, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f,
            0xff01...0xff60, 0xffe0...0xffe6, 0x16fe0...0x1b2fb, 0x1f200...0x1f202, 0x1f210...0x1f265,
            0x20000...0x3fffd:
            true
        default: scalar.properties.isEmojiPresentation
        }
    }
}
