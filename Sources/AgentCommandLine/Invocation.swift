// SPDX-License-Identifier: MIT

/// A command line taken apart by a table of commands.
package struct Invocation: Equatable, Sendable {
    /// The command and, where it has them, the command below it.
    package var path: [String] = []
    /// The values of options that take one, by long name, in their order.
    package var values: [String: [String]] = [:]
    /// The long names of options that take none.
    package var flags: Set<String> = []
    /// What is no option.
    package var arguments: [String] = []
    /// Whether help is asked for.
    package var wantsHelp = false

    /// Creates one without anything.
    package init() {}

    /// Whether an option that takes no value is there.
    package func has(_ name: String) -> Bool { flags.contains(name) }

    /// All values of an option.
    package func all(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of an option; where it is given more than once the last counts.
    package func last(_ name: String) -> String? { values[name]?.last }
}
