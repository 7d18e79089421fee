// SPDX-License-Identifier: MIT

import AgentCommandLine
import Glibc
import Testing

@testable internal import nexusguard

@Suite("shell completion")
struct CompletionTests {
    private func offers(_ words: [String]) throws -> Set<String> {
        try BashOffers.of(words, for: CommandTree.root)
    }

    @Test("bash offers commands by their beginning")
    func commands() throws {
        #expect(try offers(["sta"]) == ["status"])
        #expect(try offers(["re"]) == ["restart", "refresh", "reset"])
        #expect(try offers(["config", ""]).isSuperset(of: ["show", "export", "import", "paste"]))
        #expect(try offers(["--json", "config", "e"]) == ["export"])
    }

    @Test("bash offers the options of the command and those of all, and the values of an option")
    func options() throws {
        #expect(try offers(["logs", "--l"]) == ["--level", "--lines"])
        #expect(try offers(["status", "--j"]) == ["--json"])
        #expect(try offers(["logs", "--level", ""]) == ["debug", "info", "warn", "error"])
        #expect(try offers(["status", "--check", "l"]) == ["live"])
        #expect(try offers(["wait", ""]).isSuperset(of: ["connected", "disconnected", "provisioned"]))
        #expect(try offers(["settings", "get", "allows"]) == ["allowsPlainHTTP"])
        #expect(try offers(["completion", "z"]) == ["zsh"])
    }

    @Test("bash offers files where a file belongs, with blanks in their names kept")
    func files() throws {
        let folder = try TemporaryFolder()
        try folder.write("a b.json", "")
        #expect(try offers(["config", "import", "\(folder.path)/a"]) == ["\(folder.path)/a b.json"])
        #expect(try offers(["provision", "--token-file", "\(folder.path)/"]) == ["\(folder.path)/a b.json"])
    }

    @Test("each script names every command and long option", arguments: CompletionShell.allCases)
    func complete(shell: CompletionShell) {
        let script = shell.script(for: CommandTree.root)
        func visit(_ command: CommandSpecification) {
            for option in command.options {
                #expect(script.contains(shell == .fish ? "-l \(option.name)" : "--\(option.name)"))
            }
            for below in command.subcommands {
                #expect(script.contains(below.name))
                visit(below)
            }
        }
        visit(CommandTree.root)
    }
}
