// SPDX-License-Identifier: MIT

import AgentCommandLine
import FoundationEssentials
import Testing

@testable internal import nexusguard

@Suite("the command line of nexusguard")
struct ArgumentParserTests {
    private let now = Date(timeIntervalSince1970: 1_782_464_400)

    private func command(_ words: String...) throws(UsageError) -> Command {
        try command(words)
    }

    private func command(_ words: [String]) throws(UsageError) -> Command {
        try Command(ArgumentParser(root: CommandTree.root).parse(words), now: now)
    }

    @Test("plain commands are what they are called")
    func plain() throws {
        #expect(try command("up") == .up(WaitOptions(waits: false, timeout: nil)))
        #expect(try command("down") == .down)
        #expect(try command("restart", "--wait") == .restart(WaitOptions(waits: true, timeout: nil)))
        #expect(try command("refresh") == .refresh)
        #expect(try command("status") == .status)
        #expect(try command("status", "-w") == .watch)
        #expect(try command("status", "--check", "ready") == .check(.ready))
        #expect(try command("status", "--check=live") == .check(.live))
        #expect(try command("forwards") == .forwards)
        #expect(try command("hwid") == .hardwareIdentifier)
        #expect(try command("netcheck") == .netcheck)
        #expect(try command("version") == .version(asksDaemon: true))
        #expect(try command("--version") == .version(asksDaemon: false))
        #expect(try command("reset", "-y") == .reset(isConfirmed: true))
        #expect(try command("deprovision") == .deprovision(isConfirmed: false))
        #expect(try command("config", "show") == .showConfig)
        #expect(try command("settings") == .showSettings)
        #expect(try command("completion", "zsh") == .completion(.zsh))
        #expect(
            try command("cleanup", "--state-dir", "/tmp/x", "--runtime-dir", "/tmp/y")
                == .cleanup(stateDirectory: "/tmp/x", runtimeDirectory: "/tmp/y"))
        #expect(try command("cleanup") == .cleanup(stateDirectory: nil, runtimeDirectory: nil))
    }

    @Test("options stand before and behind the command, and values behind = or a space")
    func placement() throws {
        let parser = ArgumentParser(root: CommandTree.root)
        for words in [
            ["--json", "--socket", "/s", "status"], ["status", "--json", "--socket=/s"],
            ["--socket=/s", "status", "--json"],
        ] {
            let invocation = try parser.parse(words)
            #expect(invocation.path == ["status"])
            #expect(invocation.flags == ["json"])
            #expect(invocation.values == ["socket": ["/s"]])
        }
    }

    @Test("letters stand together, the last with its value attached or behind it")
    func letters() throws {
        let expected = LogOptions(follows: true, since: nil, level: nil, count: 5)
        #expect(try command("logs", "-fn5") == .logs(expected))
        #expect(try command("logs", "-fn", "5") == .logs(expected))
        #expect(try command("logs", "-f", "-n", "5") == .logs(expected))
        #expect(try command("logs", "--follow", "--lines=5") == .logs(expected))
    }

    @Test("behind two hyphens nothing is an option")
    func hyphens() throws {
        let expected = ImportOptions(
            file: "--odd", isConfirmed: true, isDryRun: false, passphraseFile: nil)
        #expect(try command("config", "import", "-y", "--", "--odd") == .importConfig(expected))
    }

    @Test("wait takes a goal and a time span, and a time span alone makes up wait")
    func waiting() throws {
        #expect(try command("wait") == .wait(.connected, timeout: nil))
        #expect(
            try command("wait", "disconnected", "--timeout", "90s")
                == .wait(.disconnected, timeout: .seconds(90)))
        #expect(
            try command("wait", "--timeout", "1m30s", "provisioned")
                == .wait(.provisioned, timeout: .seconds(90)))
        #expect(
            try command("up", "--timeout", "250ms")
                == .up(WaitOptions(waits: true, timeout: .milliseconds(250))))
    }

    @Test("a token comes from one place, and never from an argument")
    func token() throws {
        #expect(
            try command("provision")
                == .provision(ProvisionOptions(server: nil, token: .prompt, timeout: nil)))
        #expect(
            try command("provision", "--server", "https://a.example", "--token-file", "/t")
                == .provision(ProvisionOptions(server: "https://a.example", token: .file("/t"), timeout: nil))
        )
        for words in [["--token-file", "-"], ["--token-stdin"]] {
            #expect(
                try command(["provision"] + words)
                    == .provision(ProvisionOptions(server: nil, token: .standardInput, timeout: nil)))
        }
        for words in [
            ["provision", "sEcReT"], ["provision", "--token", "sEcReT"], ["provision", "--token=sEcReT"],
            ["provision", "--stored", "--token-file=sEcReT"], ["provision", "--stored=sEcReT"],
            ["settings", "set", "token=sEcReT"], ["settings", "set", "startsAutomatically=sEcReT"],
        ] {
            let error = #expect(throws: UsageError.self) { try command(words) }
            #expect(error?.description.contains("sEcReT") == false, "\(words)")
        }
    }

    @Test("settings are set by name, with checked values")
    func settings() throws {
        #expect(
            try command("settings", "set", "serverURL=https://a.example/?x=y", "persistsLog=on")
                == .changeSettings([.text(.serverURL, "https://a.example/?x=y"), .flag(.persistsLog, true)]))
        #expect(try command("settings", "unset", "serverURL") == .changeSettings([.unset(.serverURL)]))
        #expect(try command("settings", "get", "interfaceName") == .getSetting(.interfaceName))
        #expect(throws: UsageError.self) { try command("settings", "set", "persistsLog=maybe") }
        #expect(throws: UsageError.self) { try command("settings", "set", "persistsLog") }
        #expect(throws: UsageError.self) { try command("settings", "set") }
        #expect(throws: UsageError.self) { try command("settings", "get", "wantsUp") }
    }

    @Test("what makes no sense is refused with the culprit named")
    func refusals() {
        #expect(throws: UsageError.missingCommand(path: [], choices: [])) { try command([]) }
        let choices = ["show", "export", "import", "paste"]
        #expect(throws: UsageError.missingCommand(path: ["config"], choices: choices)) {
            try command("config")
        }
        #expect(throws: UsageError.unknownCommand("statsu", path: [], suggestion: "status")) {
            try command("statsu")
        }
        #expect(throws: UsageError.unknownCommand("xyzzy", path: [], suggestion: nil)) {
            try command("xyzzy")
        }
        #expect(throws: UsageError.unknownOption("--up", path: [])) { try command("--up") }
        #expect(throws: UsageError.unknownOption("--watch", path: ["down"])) {
            try command("down", "--watch")
        }
        #expect(throws: UsageError.unknownOption("-x", path: ["logs"])) { try command("logs", "-fx") }
        #expect(throws: UsageError.missingValue(option: "--level", path: ["logs"])) {
            try command("logs", "--level")
        }
        #expect(throws: UsageError.surplusValue(option: "--json", path: ["up"])) {
            try command("up", "--json=1")
        }
        #expect(throws: UsageError.surplusArgument("now", path: ["down"])) { try command("down", "now") }
        #expect(throws: UsageError.missingArgument("FILE", path: ["config", "import"])) {
            try command("config", "import")
        }
        #expect(throws: UsageError.conflict("--watch", "--check", path: ["status"])) {
            try command("status", "--watch", "--check", "live")
        }
        for words in [
            ["logs", "--level", "loud"], ["logs", "--since", "yesteryear"], ["logs", "-n", "-1"],
            ["wait", "happy"], ["wait", "--timeout", "0"], ["wait", "--timeout", "soon"],
            ["completion", "csh"],
            ["status", "--check", "maybe"], ["logs", "--clear", "-f"], ["--color", "blue", "status"],
            ["config", "export", "--passphrase-file", "/p"],
        ] {
            #expect(throws: UsageError.self, "\(words)") { try command(words) }
        }
    }

    @Test("an error says where help is")
    func errors() {
        #expect(
            UsageError.missingCommand(path: [], choices: []).description(of: "nexusguard")
                == "a command is missing; see 'nexusguard --help'")
        #expect(
            UsageError.missingValue(option: "--level", path: ["logs"]).description(of: "nexusguard")
                == "logs: --level needs a value; see 'nexusguard logs --help'")
        #expect(
            UsageError.missingCommand(path: ["config"], choices: ["show", "paste"]).description
                == "config: one of show, paste is missing")
    }

    @Test("the page is opened as the options say")
    func page() throws {
        #expect(try command("ui") == .page(PageOptions()))
        #expect(
            try command("ui", "-p", "--read-only", "--listen", "127.0.0.1:0")
                == .page(PageOptions(prints: true, isReadOnly: true, listen: "127.0.0.1:0")))
    }

    @Test("every command has help that names its options, and help needs no valid rest")
    func help() throws {
        func visit(_ specification: CommandSpecification, path: [String]) throws {
            let below = path + [specification.name]
            #expect(try command(below + ["--help"]) == .help(below))
            #expect(try command(below + ["-h", "--nonsense"]) == .help(below))
            #expect(try command(["help"] + below) == .help(below))
            let text = HelpText(of: CommandTree.root).text(for: below)
            #expect(text.hasPrefix("Usage: nexusguard \(below.joined(separator: " "))"))
            for option in specification.options { #expect(text.contains("--\(option.name)")) }
            for command in specification.subcommands { try visit(command, path: below) }
        }
        for specification in CommandTree.root.subcommands { try visit(specification, path: []) }
        let overview = HelpText(of: CommandTree.root).text(for: [])
        for specification in CommandTree.root.subcommands {
            #expect(overview.contains("  \(specification.name) "))
        }
        for line in overview.split(separator: "\n") { #expect(line.count <= 100) }
    }
}
