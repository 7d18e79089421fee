// SPDX-License-Identifier: MIT

/// The completion script for the Z shell.
enum ZshCompletion {
    /// The script for a table of commands, to be kept as `_nexusguard` in a folder of `fpath`, or to be sourced.
    static func script(for root: CommandSpecification) -> String {
        var functions: [String] = []
        define(root, path: [root.name], globals: root.options, into: &functions)
        let name = root.name
        return """
            #compdef \(name)
            # zsh completion for \(name)

            \(functions.joined(separator: "\n\n"))

            # Loaded by the completion system it completes now; sourced it only registers.
            if [ "$funcstack[1]" = "_\(name)" ]; then
                _\(name) "$@"
            else
                compdef _\(name) \(name)
            fi

            """
    }

    private static func define(
        _ command: CommandSpecification, path: [String], globals: [OptionSpecification],
        into functions: inout [String]
    ) {
        let function = "_" + path.joined(separator: "_")
        let options = path.count == 1 ? globals : command.options + globals
        var lines = ["\(function)() {", "    local context state line", "    _arguments -s -S \\"]
        lines += options.flatMap(specifications).map { "        \($0) \\" }
        if command.subcommands.isEmpty {
            for (index, argument) in command.arguments.enumerated() {
                let place = argument.isRepeated ? "*" : "\(index + 1)"
                let colon = argument.isOptional ? "::" : ":"
                lines.append("        \(quote("\(place)\(colon)\(action(argument.value))")) \\")
            }
            lines.append("        && return")
            lines.append("}")
        } else {
            lines += [
                "        '1: :->command' '*:: :->arguments' && return", "    case $state in", "    command)",
            ]
            lines.append("        local -a commands=(")
            lines += command.subcommands.map { "            \(quote("\($0.name):\($0.summary)"))" }
            lines += ["        )", "        _describe command commands", "        ;;", "    arguments)"]
            lines.append("        case $line[1] in")
            lines += command.subcommands.map { "        \($0.name)) \(function)_\($0.name) ;;" }
            lines += ["        esac", "        ;;", "    esac", "}"]
        }
        functions.append(lines.joined(separator: "\n"))
        for below in command.subcommands {
            define(below, path: path + [below.name], globals: globals, into: &functions)
        }
    }

    /// One word for each form of an option; the forms exclude each other.
    private static func specifications(_ option: OptionSpecification) -> [String] {
        let long = "--\(option.name)"
        let short = option.letter.map { "-\($0)" }
        let excluded = "(\([short, long].compactMap(\.self).joined(separator: " ")))"
        let summary = option.shortSummary.replacing("[", with: "(").replacing("]", with: ")")
        let value = option.value.map { ":\(action($0))" } ?? ""
        var result = [quote("\(excluded)\(long)\(option.value == nil ? "" : "=")[\(summary)]\(value)")]
        if let short { result.append(quote("\(excluded)\(short)[\(summary)]\(value)")) }
        return result
    }

    /// Name and action of a value.
    private static func action(_ value: ValueKind) -> String {
        switch value {
        case .text(let name): "\(name.replacing(":", with: "\\:")):"
        case .file: "file:_files"
        case .directory: "directory:_files -/"
        case .choice(let words), .word(_, let words): "value:(\(words.joined(separator: " ")))"
        }
    }

    private static func quote(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
