// SPDX-License-Identifier: MIT

/// The text of `--help`.
package struct HelpText {
    private let root: CommandSpecification

    /// Prepares the help of a table of commands.
    package init(of root: CommandSpecification) {
        self.root = root
    }

    /// The help of the command at `path`, or of the whole when it is empty.
    ///
    /// A programme without commands has the page of a command as its whole.
    package func text(for path: [String]) -> String {
        var command = root
        for name in path { command = command.subcommand(name) ?? command }
        return path.isEmpty && !root.subcommands.isEmpty ? overview : page(command, path: path)
    }

    private var overview: String {
        var lines = [
            "Usage: \(root.name) [OPTION]... COMMAND [ARGUMENT]...", "", Self.capitalised(root.summary) + ".",
        ]
        for group in root.commandGroups {
            lines += ["", group.heading + ":"]
            lines += Self.table(group.commands.map { ($0.name, $0.summary) })
        }
        lines += commonOptions + ["", "'\(root.name) COMMAND --help' tells more."]
        if !root.notes.isEmpty { lines += ["", root.notes] }
        return lines.joined(separator: "\n") + "\n"
    }

    private func page(_ command: CommandSpecification, path: [String]) -> String {
        var lines = [
            (["Usage:", root.name] + path + [command.usage ?? Self.usage(command)]).filter { !$0.isEmpty }
                .joined(separator: " "),
            "", Self.capitalised(command.summary) + ".",
        ]
        if !command.details.isEmpty { lines += ["", command.details] }
        for group in command.commandGroups {
            lines += ["", group.heading + ":"]
            lines += Self.table(
                group.commands.map { below in
                    let words = [below.name] + below.arguments.map(\.synopsis)
                    return (words.joined(separator: " "), below.summary)
                })
        }
        for group in command.optionGroups {
            lines += ["", group.heading + ":"]
            lines += Self.table(group.options.map { (Self.synopsis($0), $0.summary) })
        }
        if !path.isEmpty { lines += commonOptions }
        if !command.notes.isEmpty { lines += ["", command.notes] }
        return lines.joined(separator: "\n") + "\n"
    }

    private var commonOptions: [String] {
        ["", "Options of every command:"] + Self.table(root.options.map { (Self.synopsis($0), $0.summary) })
    }

    private static func usage(_ command: CommandSpecification) -> String {
        var words: [String] = []
        if !command.options.isEmpty { words.append("[OPTION]...") }
        if command.needsSubcommand {
            words.append("COMMAND")
        } else if !command.subcommands.isEmpty {
            words.append("[COMMAND]")
        }
        return (words + command.arguments.map(\.synopsis)).joined(separator: " ")
    }

    private static func synopsis(_ option: OptionSpecification) -> String {
        let letter = option.letter.map { "-\($0), " } ?? "    "
        let value = option.value.map { " \($0.placeholder)" } ?? ""
        return "\(letter)--\(option.name)\(value)"
    }

    /// Two columns, the right one in as many lines as it has; a left side that is too wide has a line of its own.
    private static func table(_ rows: [(String, String)]) -> [String] {
        let widest = 30
        let column = min(rows.map(\.0.count).filter { $0 <= widest }.max() ?? 0, widest) + 4
        let indent = String(repeating: " ", count: column)
        return rows.flatMap { left, right in
            let start = "  " + left
            var lines = right.split(separator: "\n", omittingEmptySubsequences: false).map { indent + $0 }
            guard left.count <= widest, let first = lines.first else { return [start] + lines }
            lines[0] = start + first.dropFirst(start.count)
            return lines
        }
    }

    private static func capitalised(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }
}
