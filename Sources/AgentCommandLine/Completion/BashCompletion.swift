// SPDX-License-Identifier: MIT

/// The completion script for bash.
enum BashCompletion {
    /// The script for a table of commands. It needs nothing but bash 4.
    static func script(for root: CommandSpecification) -> String {
        var cases: [String] = []
        collect(root, path: [], globals: root.options, into: &cases)
        let name = root.name
        return """
            # bash completion for \(name)

            _\(name)() {
                local current=${COMP_WORDS[COMP_CWORD]} previous= path= word words= files=
                local -i index position=0
                for ((index = 1; index < COMP_CWORD; index++)); do
                    word=${COMP_WORDS[index]}
                    case "$path:$word" in
            \(walk(root, path: []).joined(separator: "\n"))
                    *:-*) ;;
                    *) position+=1 ;;
                    esac
                done
                ((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}
                COMPREPLY=()
                case "$path" in
            \(cases.joined(separator: "\n"))
                esac
                if [ -n "$files" ]; then
                    compopt -o filenames 2>/dev/null
                    if [ "$files" = directories ]; then
                        mapfile -t COMPREPLY < <(compgen -d -- "$current")
                    else
                        mapfile -t COMPREPLY < <(compgen -f -- "$current")
                    fi
                else
                    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
                fi
            }
            complete -F _\(name) \(name)

            """
    }

    /// The cases that follow the words of the line down to a command.
    private static func walk(_ command: CommandSpecification, path: [String]) -> [String] {
        command.subcommands.flatMap { below in
            let start = path.joined(separator: "/")
            let end = (path + [below.name]).joined(separator: "/")
            return ["        '\(start):\(below.name)') path='\(end)' position=0 ;;"]
                + walk(below, path: path + [below.name])
        }
    }

    /// One case for each command: what its options' values are, and else its options, commands and arguments.
    private static func collect(
        _ command: CommandSpecification, path: [String], globals: [OptionSpecification],
        into cases: inout [String]
    ) {
        let options = path.isEmpty ? globals : command.options + globals
        var lines = ["    '\(path.joined(separator: "/"))')", "        case \"$previous\" in"]
        for option in options {
            guard let value = option.value else { continue }
            let names = (["--\(option.name)"] + (option.letter.map { ["-\($0)"] } ?? [])).joined(
                separator: " | ")
            lines.append("        \(names)) \(assignment(of: value)) ;;")
        }
        lines.append("        *)")
        let words = command.subcommands.map(\.name) + options.map { "--\($0.name)" }
        lines.append("            words='\(words.joined(separator: " "))'")
        if let argument = command.arguments.first {
            lines.append("            case \"$current\" in -*) ;; *)")
            let limit = argument.isRepeated ? "" : "((position == 0)) && "
            lines.append("                \(limit){ \(assignment(of: argument.value)); } ;;")
            lines.append("            esac")
        }
        lines += ["            ;;", "        esac", "        ;;"]
        cases.append(lines.joined(separator: "\n"))
        for below in command.subcommands {
            collect(below, path: path + [below.name], globals: globals, into: &cases)
        }
    }

    private static func assignment(of value: ValueKind) -> String {
        switch value {
        case .text: "words="
        case .file: "files=any"
        case .directory: "files=directories"
        case .choice(let words), .word(_, let words): "words='\(words.joined(separator: " "))'"
        }
    }
}
