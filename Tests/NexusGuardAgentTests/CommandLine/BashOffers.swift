// SPDX-License-Identifier: MIT

import AgentCommandLine
import Testing

/// What a bash with the completion script of a programme would offer.
enum BashOffers {
    /// What it offers for a line that ends where the cursor is.
    ///
    /// - Parameters:
    ///   - words: The line without the programme's name.
    ///   - root: The programme's table.
    static func of(_ words: [String], for root: CommandSpecification) throws -> Set<String> {
        let line = words.map { "'\($0)'" }.joined(separator: " ")
        let driver = """
            \(CompletionShell.bash.script(for: root))
            COMP_WORDS=(\(root.name) \(line))
            COMP_CWORD=\(words.count)
            _\(root.name)
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let output = try Shell.run(["/bin/bash", "--norc", "--noprofile", "-c", driver])
        #expect(output.status == 0, "\(output.errors)")
        #expect(output.errors.isEmpty)
        return Set(output.text.split(separator: "\n").map(String.init))
    }
}
