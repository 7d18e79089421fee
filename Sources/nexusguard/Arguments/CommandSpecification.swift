// SPDX-License-Identifier: MIT

/// What a command is called, takes and does; parser, help and completion read the same table.
struct CommandSpecification: Equatable {
    /// The word that names it.
    let name: String
    /// Half a sentence for the list of commands.
    let summary: String
    /// Sentences for the command's own help.
    let details: String
    /// The options of this command alone.
    let options: [OptionSpecification]
    /// What follows besides options.
    let arguments: [ArgumentSpecification]
    /// The commands below this one.
    let subcommands: [CommandSpecification]
    /// Whether the command does nothing by itself.
    let needsSubcommand: Bool
    /// Whether an argument may be a secret given by mistake; errors then repeat none.
    let hidesArguments: Bool

    /// Creates a command.
    init(
        _ name: String, _ summary: String, details: String = "", options: [OptionSpecification] = [],
        arguments: [ArgumentSpecification] = [], subcommands: [CommandSpecification] = [],
        needsSubcommand: Bool = false, hidesArguments: Bool = false
    ) {
        self.name = name
        self.summary = summary
        self.details = details
        self.options = options
        self.arguments = arguments
        self.subcommands = subcommands
        self.needsSubcommand = needsSubcommand
        self.hidesArguments = hidesArguments
    }

    /// The command below this one with that name.
    func subcommand(_ name: String) -> CommandSpecification? {
        subcommands.first { $0.name == name }
    }
}
