// SPDX-License-Identifier: MIT

/// The completion script for fish.
enum FishCompletion {
    /// The script for a table of commands.
    static func script(for root: CommandSpecification) -> String {
        var lines = ["# fish completion for \(root.name)", "", "complete -c \(root.name) -f"]
        lines += root.options.map { line(root.name, condition: nil, option: $0) }
        add(root, path: [], root: root, to: &lines)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func add(
        _ command: CommandSpecification, path: [String], root: CommandSpecification, to lines: inout [String]
    ) {
        let condition = condition(for: command, path: path)
        let start = "complete -c \(root.name) -n \(quote(condition))"
        for below in command.subcommands {
            lines.append("\(start) -a \(below.name) -d \(quote(below.summary))")
        }
        if !path.isEmpty {
            lines += command.options.map { line(root.name, condition: condition, option: $0) }
            for argument in command.arguments { lines.append("\(start) \(arguments(argument.value))") }
        }
        for below in command.subcommands { add(below, path: path + [below.name], root: root, to: &lines) }
    }

    /// Whether the line has led to this command and to none below it.
    private static func condition(for command: CommandSpecification, path: [String]) -> String {
        var parts = path.map { "__fish_seen_subcommand_from \($0)" }
        let below = command.subcommands.map(\.name).joined(separator: " ")
        if !below.isEmpty { parts.append("not __fish_seen_subcommand_from \(below)") }
        return parts.joined(separator: "; and ")
    }

    private static func line(_ name: String, condition: String?, option: OptionSpecification) -> String {
        var words = ["complete", "-c", name]
        if let condition { words += ["-n", quote(condition)] }
        if let letter = option.letter { words += ["-s", String(letter)] }
        words += ["-l", option.name, "-d", quote(option.shortSummary)]
        switch option.value {
        case nil: break
        case .text: words.append("-x")
        case .file: words += ["-r", "-F"]
        case .directory: words += ["-x", "-a", quote("(__fish_complete_directories)")]
        case .choice(let choices), .word(_, let choices):
            words += ["-x", "-a", quote(choices.joined(separator: " "))]
        }
        return words.joined(separator: " ")
    }

    private static func arguments(_ value: ValueKind) -> String {
        switch value {
        case .text: "-x"
        case .file: "-F"
        case .directory: "-x -a \(quote("(__fish_complete_directories)"))"
        case .choice(let words), .word(_, let words): "-x -a \(quote(words.joined(separator: " ")))"
        }
    }

    private static func quote(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
