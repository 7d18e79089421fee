// SPDX-License-Identifier: MIT

/// A shell that completion scripts exist for.
package enum CompletionShell: String, CaseIterable, Sendable {
    /// GNU bash.
    case bash
    /// Z shell.
    case zsh
    /// fish.
    case fish

    /// The script for a table of commands.
    package func script(for root: CommandSpecification) -> String {
        switch self {
        case .bash: BashCompletion.script(for: root)
        case .zsh: ZshCompletion.script(for: root)
        case .fish: FishCompletion.script(for: root)
        }
    }
}
