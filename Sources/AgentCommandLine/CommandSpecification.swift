// SPDX-License-Identifier: MIT

/// What a command is called, takes and does; parser, help and completion read the same table.
package struct CommandSpecification: Equatable, Sendable {
    /// The word that names it.
    package let name: String
    /// Half a sentence for the list of commands.
    package let summary: String
    /// How it is used, behind the words that name it; `nil` leaves that to what follows here.
    package let usage: String?
    /// Sentences for the command's own help.
    package let details: String
    /// What stands at the end of the command's own help.
    package let notes: String
    /// The options of this command alone, under headings.
    package let optionGroups: [OptionGroup]
    /// What follows besides options.
    package let arguments: [ArgumentSpecification]
    /// The commands below this one, under headings.
    package let commandGroups: [CommandGroup]
    /// Whether the command does nothing by itself.
    package let needsSubcommand: Bool
    /// Whether an argument may be a secret given by mistake; errors then repeat none.
    package let hidesArguments: Bool

    /// Creates a command.
    package init(
        _ name: String, _ summary: String, usage: String? = nil, details: String = "", notes: String = "",
        options: [OptionSpecification] = [], optionGroups: [OptionGroup] = [],
        arguments: [ArgumentSpecification] = [], subcommands: [CommandSpecification] = [],
        commandGroups: [CommandGroup] = [], needsSubcommand: Bool = false, hidesArguments: Bool = false
    ) {
        self.name = name
        self.summary = summary
        self.usage = usage
        self.details = details
        self.notes = notes
        self.optionGroups = (options.isEmpty ? [] : [OptionGroup("Options", options)]) + optionGroups
        self.arguments = arguments
        self.commandGroups =
            (subcommands.isEmpty ? [] : [CommandGroup("Commands", subcommands)]) + commandGroups
        self.needsSubcommand = needsSubcommand
        self.hidesArguments = hidesArguments
    }

    /// The options of this command alone.
    package var options: [OptionSpecification] { optionGroups.flatMap(\.options) }

    /// The commands below this one.
    package var subcommands: [CommandSpecification] { commandGroups.flatMap(\.commands) }

    /// The command below this one with that name.
    package func subcommand(_ name: String) -> CommandSpecification? {
        subcommands.first { $0.name == name }
    }
}

/// Options under a heading.
package struct OptionGroup: Equatable, Sendable {
    /// The heading.
    package let heading: String
    /// The options.
    package let options: [OptionSpecification]

    /// Creates a group.
    package init(_ heading: String, _ options: [OptionSpecification]) {
        self.heading = heading
        self.options = options
    }
}

/// Commands under a heading.
package struct CommandGroup: Equatable, Sendable {
    /// The heading.
    package let heading: String
    /// The commands.
    package let commands: [CommandSpecification]

    /// Creates a group.
    package init(_ heading: String, _ commands: [CommandSpecification]) {
        self.heading = heading
        self.commands = commands
    }
}
