// SPDX-License-Identifier: MIT

/// What the value of an option or an argument is, for checking, help and completion.
enum ValueKind: Equatable {
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
    var placeholder: String {
        switch self {
        case .text(let name): name
        case .file: "FILE"
        case .directory: "DIR"
        case .choice(let words): words.joined(separator: "|")
        case .word(let name, _): name
        }
    }

    /// The words that are possible; `nil` when there is no such list.
    var words: [String]? {
        switch self {
        case .choice(let words), .word(_, let words): words
        case .text, .file, .directory: nil
        }
    }
}

/// One option of a command.
struct OptionSpecification: Equatable {
    /// The long name, without hyphens.
    let name: String
    /// The letter of the short form.
    let letter: Character?
    /// What the option takes; `nil` for one that is there or not.
    let value: ValueKind?
    /// Half a sentence for the help.
    let summary: String

    /// Creates an option.
    init(
        _ name: String, letter: Character? = nil, takes value: ValueKind? = nil, _ summary: String
    ) {
        self.name = name
        self.letter = letter
        self.value = value
        self.summary = summary
    }
}

/// One argument of a command that is no option.
struct ArgumentSpecification: Equatable {
    /// What it is.
    let value: ValueKind
    /// Whether the command can do without.
    let isOptional: Bool
    /// Whether there may be several.
    let isRepeated: Bool

    /// Creates an argument.
    init(_ value: ValueKind, isOptional: Bool = false, isRepeated: Bool = false) {
        self.value = value
        self.isOptional = isOptional
        self.isRepeated = isRepeated
    }

    /// How it stands in the help, such as `[FILE]...`.
    var synopsis: String {
        let name = isOptional ? "[\(value.placeholder)]" : value.placeholder
        return isRepeated ? name + "..." : name
    }
}
