// SPDX-License-Identifier: MIT

/// A terminal's screen, as far as the programmes under test use it (ECMA-48, and the private modes of xterm).
struct Screen {
    private struct Cell {
        var character: Character = " "
        var colour = 0
    }

    private let width: Int
    private let height: Int
    private var cells: [[Cell]]
    private var main: [[Cell]]
    private var row = 0
    private var column = 0
    private var colour = 0
    private var pending: [UInt8] = []
    /// Whether the cursor is shown.
    private(set) var showsCursor = true
    /// Whether the other screen is shown.
    private(set) var isAlternate = false
    /// Whether a line that is too long goes on in the next row.
    private(set) var wraps = true
    /// Everything that was written.
    private(set) var transcript: [UInt8] = []
    /// Sequences that are not known here.
    private(set) var unknown: [String] = []

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        cells = Self.blank(width, height)
        main = cells
    }

    /// The rows, blanks at their ends cut off.
    var rows: [String] {
        cells.map { row in
            var text = String(row.map(\.character).filter { $0 != Self.rest })
            while text.last == " " { text.removeLast() }
            return text
        }
    }

    /// The colour of the first place of a text; `nil` when it is not on the screen.
    func colour(of text: String) -> Int? {
        for row in cells {
            let characters = row.map(\.character)
            let wanted = Array(text)
            guard characters.count >= wanted.count else { continue }
            for start in 0...(characters.count - wanted.count)
            where Array(characters[start..<start + wanted.count]) == wanted {
                return row[start].colour
            }
        }
        return nil
    }

    /// Takes what a programme writes.
    mutating func write(_ bytes: some Sequence<UInt8>) {
        transcript += bytes
        pending += bytes
        while let consumed = step() { pending.removeFirst(consumed) }
    }

    /// Takes one character or sequence; returns its length, or `nil` when it is not there in full.
    private mutating func step() -> Int? {
        guard let first = pending.first else { return nil }
        switch first {
        case 0x1b: return escape()
        case 0x0d: column = 0
        case 0x0a:
            if row == height - 1 { scroll() } else { row += 1 }
        case 0x08: column = max(0, column - 1)
        case 0x07: break
        default:
            let length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
            guard pending.count >= length else { return nil }
            put(Character(String(decoding: pending[..<length], as: UTF8.self)))
            return length
        }
        return 1
    }

    private mutating func put(_ character: Character) {
        let room = Self.isWide(character) ? 2 : 1
        // A programme that writes beyond the last column would wrap: a fault, which shows in the next row.
        if column + room > width {
            guard wraps else {
                column = width
                return
            }
            column = 0
            if row == height - 1 { scroll() } else { row += 1 }
        }
        cells[row][column] = Cell(character: character, colour: colour)
        if room == 2 { cells[row][column + 1] = Cell(character: Self.rest, colour: colour) }
        column += room
    }

    /// Stands in the second place of a wide character.
    private static let rest: Character = "\0"

    /// The characters of the tests that terminals give two columns.
    private static func isWide(_ character: Character) -> Bool {
        "日本語サーバー🚀".contains(character)
    }

    private mutating func scroll() {
        cells.removeFirst()
        cells.append([Cell](repeating: Cell(), count: width))
    }

    private mutating func escape() -> Int? {
        guard pending.count >= 2 else { return nil }
        guard pending[1] == UInt8(ascii: "[") else {
            unknown.append("ESC \(pending[1])")
            return 2
        }
        guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7e).contains($0) }) else {
            return nil
        }
        let parameters = String(decoding: pending[2..<end], as: UTF8.self)
        switch (Character(Unicode.Scalar(pending[end])), parameters) {
        case ("H", _):
            let numbers = parameters.split(separator: ";").compactMap { Int($0) }
            row = min(height, max(1, numbers.first ?? 1)) - 1
            column = min(width, max(1, numbers.count > 1 ? numbers[1] : 1)) - 1
        case ("G", _): column = min(width, max(1, Int(parameters) ?? 1)) - 1
        case ("K", ""), ("K", "0"): clear(row, from: column)
        case ("J", ""), ("J", "0"):
            clear(row, from: column)
            for row in (row + 1)..<max(row + 1, height) { clear(row, from: 0) }
        case ("J", "2"): cells = Self.blank(width, height)
        case ("m", _): colour = Int(parameters) ?? 0
        case ("l", "?7"): wraps = false
        case ("h", "?7"): wraps = true
        case ("l", "?25"): showsCursor = false
        case ("h", "?25"): showsCursor = true
        case ("h", "?1049"):
            if !isAlternate { main = cells }
            isAlternate = true
            cells = Self.blank(width, height)
        case ("l", "?1049"):
            if isAlternate { cells = main }
            isAlternate = false
        default: unknown.append("CSI \(parameters) \(pending[end])")
        }
        return end + 1
    }

    private mutating func clear(_ row: Int, from start: Int) {
        guard row < height else { return }
        for column in min(start, width)..<width { cells[row][column] = Cell() }
    }

    private static func blank(_ width: Int, _ height: Int) -> [[Cell]] {
        [[Cell]](repeating: [Cell](repeating: Cell(), count: width), count: height)
    }
}
