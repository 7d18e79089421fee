// SPDX-License-Identifier: MIT

/// Takes a command line apart, by the conventions of GNU: `--name value`, `--name=value`, `-n value`, `-nvalue`,
/// letters together, options anywhere, `--` before arguments that look like options.
package struct ArgumentParser: Sendable {
    /// The commands; the root's options are taken by all of them.
    package let root: CommandSpecification

    /// Creates a parser for a table of commands.
    package init(root: CommandSpecification) {
        self.root = root
    }

    /// Takes a command line apart.
    ///
    /// `help COMMAND` is `COMMAND --help`.
    ///
    /// - Parameter arguments: The arguments without the programme's name.
    /// - Throws: `UsageError`. With `--help` on the line, only what stands before it is checked.
    package func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        guard arguments.first != "help" || root.subcommand("help") != nil else {
            return try parse(arguments.dropFirst() + ["--help"])
        }
        var state = State(root: root)
        var index = 0
        var takesOptions = true
        while index < arguments.count, !state.result.wantsHelp {
            let argument = arguments[index]
            let following = index + 1 < arguments.count ? arguments[index + 1] : nil
            index += 1
            if takesOptions, argument == "--" {
                takesOptions = false
            } else if takesOptions, argument.hasPrefix("--") {
                if try state.takeLong(argument.dropFirst(2), following: following) { index += 1 }
            } else if takesOptions, argument.hasPrefix("-"), argument != "-" {
                if try state.takeLetters(argument.dropFirst(), following: following) { index += 1 }
            } else {
                try state.takeWord(argument)
            }
        }
        if !state.result.wantsHelp { try state.finish() }
        return state.result
    }
}

/// What has been understood of a command line so far.
private struct State {
    var result = Invocation()
    private let root: CommandSpecification
    private var command: CommandSpecification
    private var isInSubcommand: Bool { !result.path.isEmpty }

    init(root: CommandSpecification) {
        self.root = root
        command = root
    }

    /// Takes `name` or `name=value`; returns whether the following argument was the value.
    mutating func takeLong(_ text: Substring, following: String?) throws(UsageError) -> Bool {
        let name = String(text.prefix { $0 != "=" })
        let value = text.count > name.count ? String(text.dropFirst(name.count + 1)) : nil
        if name == "help" {
            result.wantsHelp = true
            return false
        }
        guard let option = option(where: { $0.name == name }) else {
            throw .unknownOption("--\(name)", path: result.path)
        }
        guard let kind = option.value else {
            guard value == nil else { throw .surplusValue(option: "--\(name)", path: result.path) }
            result.flags.insert(name)
            return false
        }
        guard let given = value ?? following else {
            throw .missingValue(option: "--\(name)", path: result.path)
        }
        try store(given, of: option, kind: kind)
        return value == nil
    }

    /// Takes letters; the last may have its value attached or behind it.
    mutating func takeLetters(_ letters: Substring, following: String?) throws(UsageError) -> Bool {
        var rest = letters
        while let letter = rest.popFirst() {
            if letter == "h" {
                result.wantsHelp = true
                return false
            }
            guard let option = option(where: { $0.letter == letter }) else {
                throw .unknownOption("-\(letter)", path: result.path)
            }
            guard let kind = option.value else {
                result.flags.insert(option.name)
                continue
            }
            if !rest.isEmpty {
                try store(String(rest), of: option, kind: kind)
                return false
            }
            guard let following else { throw .missingValue(option: "-\(letter)", path: result.path) }
            try store(following, of: option, kind: kind)
            return true
        }
        return false
    }

    /// Takes the name of a command, or an argument.
    mutating func takeWord(_ word: String) throws(UsageError) {
        if let below = command.subcommand(word), result.arguments.isEmpty {
            command = below
            result.path.append(word)
            return
        }
        if !command.subcommands.isEmpty, !isInSubcommand || command.arguments.isEmpty {
            let suggestion = Suggestion.closest(to: word, among: command.subcommands.map(\.name))
            throw .unknownCommand(
                command.hidesArguments ? nil : word, path: result.path, suggestion: suggestion)
        }
        let position = result.arguments.count
        guard let last = command.arguments.last, position < command.arguments.count || last.isRepeated else {
            throw .surplusArgument(command.hidesArguments ? nil : word, path: result.path)
        }
        let specification = position < command.arguments.count ? command.arguments[position] : last
        if let words = specification.value.words, !words.contains(word) {
            throw .invalidValue(
                of: "'\(word)'", expected: "one of \(words.joined(separator: ", "))", path: result.path)
        }
        result.arguments.append(word)
    }

    /// Checks that nothing is missing.
    func finish() throws(UsageError) {
        let needed = command.arguments.filter { !$0.isOptional }
        if result.arguments.count < needed.count {
            throw .missingArgument(needed[result.arguments.count].value.placeholder, path: result.path)
        }
        if command.needsSubcommand, !result.flags.contains("version") {
            throw .missingCommand(
                path: result.path, choices: isInSubcommand ? command.subcommands.map(\.name) : [])
        }
    }

    private func option(where matches: (OptionSpecification) -> Bool) -> OptionSpecification? {
        command.options.first(where: matches) ?? root.options.first(where: matches)
    }

    private mutating func store(
        _ value: String, of option: OptionSpecification, kind: ValueKind
    ) throws(UsageError) {
        if let words = kind.words, !words.contains(value) {
            throw .invalidValue(
                of: "--\(option.name)", expected: "one of \(words.joined(separator: ", "))", path: result.path
            )
        }
        result.values[option.name, default: []].append(value)
    }
}
