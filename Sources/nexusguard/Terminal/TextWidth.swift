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

    /// Whether a terminal gives the scalar two columns (Unicode Standard Annex 11, the ranges of wide characters).
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff,
            0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f900...0x1f9ff,
            0x20000...0x3fffd:
            true
        default: false
        }
    }
}
