// SPDX-License-Identifier: MIT

/// The text of `--help`.
enum HelpText {
    /// The help of the command at `path`, or of the whole when it is empty.
    static func text(for path: [String], of root: CommandSpecification = CommandTree.root) -> String {
        var command = root
        for name in path { command = command.subcommand(name) ?? command }
        return path.isEmpty ? overview(root) : page(command, path: path, root: root)
    }

    private static func overview(_ root: CommandSpecification) -> String {
        var lines = [
            "Usage: \(root.name) [OPTION]... COMMAND [ARGUMENT]...", "", capitalised(root.summary) + ".",
        ]
        for group in CommandTree.groups {
            lines += ["", group.heading + ":"]
            lines += table(group.commands.map { ($0.name, $0.summary) })
        }
        lines += ["", "Options of every command:"]
        lines += table(root.options.map { (synopsis($0), $0.summary) })
        lines += [
            "", "'\(root.name) COMMAND --help' tells more.", "",
            "Exit status: 0 done, 1 failed, 2 usage, 3 condition false, 4 daemon not reachable,",
            "5 not permitted, 6 not provisioned, 7 time-out, 8 refused by the server.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func page(_ command: CommandSpecification, path: [String], root: CommandSpecification)
        -> String
    {
        var usage = ["Usage:", root.name] + path
        if !command.options.isEmpty { usage.append("[OPTION]...") }
        if command.needsSubcommand {
            usage.append("COMMAND")
        } else if !command.subcommands.isEmpty {
            usage.append("[COMMAND]")
        }
        usage += command.arguments.map(\.synopsis)
        var lines = [usage.joined(separator: " "), "", capitalised(command.summary) + "."]
        if !command.details.isEmpty { lines += ["", command.details] }
        if !command.subcommands.isEmpty {
            lines += ["", "Commands:"]
            lines += table(
                command.subcommands.map { ([$0.name] + $0.arguments.map(\.synopsis), $0.summary) }
                    .map { ($0.0.joined(separator: " "), $0.1) })
        }
        if !command.options.isEmpty {
            lines += ["", "Options:"]
            lines += table(command.options.map { (synopsis($0), $0.summary) })
        }
        lines += ["", "Options of every command:"]
        lines += table(root.options.map { (synopsis($0), $0.summary) })
        return lines.joined(separator: "\n") + "\n"
    }

    private static func synopsis(_ option: OptionSpecification) -> String {
        let letter = option.letter.map { "-\($0), " } ?? "    "
        let value = option.value.map { " \($0.placeholder)" } ?? ""
        return "\(letter)--\(option.name)\(value)"
    }

    /// Two columns; a left side that is too wide has a line of its own.
    private static func table(_ rows: [(String, String)]) -> [String] {
        let widest = 24
        let column = min(rows.map(\.0.count).max() ?? 0, widest) + 4
        return rows.flatMap { left, right in
            let start = "  " + left
            guard left.count <= widest else { return [start, String(repeating: " ", count: column) + right] }
            return [start + String(repeating: " ", count: column - start.count) + right]
        }
    }

    private static func capitalised(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }
}
