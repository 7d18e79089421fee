// SPDX-License-Identifier: MIT

/// What the value of an option or an argument is, for checking, help and completion.
package enum ValueKind: Equatable, Sendable {
    /// Any text; the name stands in the help.
    case text(String)
    /// The path of a file.
    case file
    /// The path of a directory.
    case directory
    /// One of these words.
    case choice([String])
    /// One of many words; the name stands in the help.
    case word(String, among: [String])

    /// What stands for the value in the help.
    package var placeholder: String {
        switch self {
        case .text(let name): name
        case .file: "FILE"
        case .directory: "DIR"
        case .choice(let words): words.joined(separator: "|")
        case .word(let name, _): name
        }
    }

    /// The words that are possible; `nil` when there is no such list.
    package var words: [String]? {
        switch self {
        case .choice(let words), .word(_, let words): words
        case .text, .file, .directory: nil
        }
    }
}

/// One option of a command.
package struct OptionSpecification: Equatable, Sendable {
    /// The long name, without hyphens.
    package let name: String
    /// The letter of the short form.
    package let letter: Character?
    /// What the option takes; `nil` for one that is there or not.
    package let value: ValueKind?
    /// Half a sentence for the help, in one line or more.
    package let summary: String

    /// The same in one line.
    package var shortSummary: String { summary.split(separator: "\n").joined(separator: " ") }

    /// Creates an option.
    package init(
        _ name: String, letter: Character? = nil, takes value: ValueKind? = nil, _ summary: String
    ) {
        self.name = name
        self.letter = letter
        self.value = value
        self.summary = summary
    }
}

/// One argument of a command that is no option.
package struct ArgumentSpecification: Equatable, Sendable {
    /// What it is.
    package let value: ValueKind
    /// Whether the command can do without.
    package let isOptional: Bool
    /// Whether there may be several.
    package let isRepeated: Bool

    /// Creates an argument.
    package init(_ value: ValueKind, isOptional: Bool = false, isRepeated: Bool = false) {
        self.value = value
        self.isOptional = isOptional
        self.isRepeated = isRepeated
    }

    /// How it stands in the help, such as `[FILE]...`.
    package var synopsis: String {
        let name = isOptional ? "[\(value.placeholder)]" : value.placeholder
        return isRepeated ? name + "..." : name
    }
}
