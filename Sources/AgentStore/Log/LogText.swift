// SPDX-License-Identifier: MIT

internal import AgentCore

/// Makes the texts of an entry safe to print and bounded.
enum LogText {
    /// The most bytes of a message, the mark of a cut included.
    static let longestMessage = 1024
    /// The most bytes of a tag.
    static let longestTag = 32

    /// The text in one line of at most `limit` bytes, with a question mark for each character that a terminal or
    /// a reader of lines would take for something else.
    static func plain(_ text: String, limit: Int) -> String {
        let isPlainASCII = text.utf8.count <= limit && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        if isPlainASCII { return text }
        let mark = "…"
        var plain = ""
        // What the text may be when more follows, so that the mark still fits.
        var cut = plain
        for scalar in text.unicodeScalars {
            let character = String(scalar)
            plain += ShownText.isPlain(character) ? character : "?"
            if plain.utf8.count <= limit - mark.utf8.count { cut = plain }
            if plain.utf8.count > limit { return cut + mark }
        }
        return plain
    }
}
