// SPDX-License-Identifier: MIT

import AgentCommandLine
import NexusGuardAgent
import Testing

@testable internal import nexusguard_agent

@Suite("the options of nexusguard-agent")
struct DaemonOptionsTests {
    private func options(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) throws(UsageError) -> DaemonOptions {
        try DaemonOptions(arguments: arguments) { environment[$0] }
    }

    @Test("without any the places are the usual ones")
    func defaults() throws {
        let options = try options([])
        #expect(options.action == .run)
        #expect(options.stateDirectory == "/var/lib/nexusguard")
        #expect(options.runtimeDirectory == "/run/nexusguard")
        #expect(options.configurationFile == "/etc/nexusguard/agent.conf")
        #expect(options.socketPath == "/run/nexusguard/agent.sock")
        #expect(options.logLevel == nil)
    }

    @Test("each can be set, with a space or =")
    func set() throws {
        for words in [
            [
                "--state-dir", "/s", "--runtime-dir", "/r", "--config", "/c", "--log-level", "debug",
                "--foreground",
            ],
            ["--log-level=DEBUG", "--config=/c", "--runtime-dir=/r", "--state-dir=/s"],
        ] {
            let options = try options(words)
            #expect(options.stateDirectory == "/s")
            #expect(options.runtimeDirectory == "/r")
            #expect(options.configurationFile == "/c")
            #expect(options.socketPath == "/r/agent.sock")
            #expect(options.logLevel == .debug)
        }
        #expect(try options(["--socket", "/x/y"]).socketPath == "/x/y")
    }

    @Test("the service manager's directories are the defaults, the first of several")
    func environment() throws {
        let environment = ["STATE_DIRECTORY": "/var/lib/a:/var/lib/b", "RUNTIME_DIRECTORY": "/run/a"]
        let fromEnvironment = try options([], environment)
        #expect(fromEnvironment.stateDirectory == "/var/lib/a")
        #expect(fromEnvironment.socketPath == "/run/a/agent.sock")
        #expect(try options(["--state-dir=/s"], environment).stateDirectory == "/s")
    }

    @Test("help and version need no valid rest")
    func help() throws {
        #expect(try options(["--help", "--nonsense"]).action == .help)
        #expect(try options(["-h"]).action == .help)
        #expect(try options(["--version"]).action == .version)
        #expect(try options(["--version", "--socket", "relative"]).action == .version)
        for name in ["--state-dir", "--runtime-dir", "--config", "--socket", "--log-level"] {
            #expect(DaemonCommand.help.contains(name))
        }
    }

    @Test("each shell has a completion script with all options", arguments: CompletionShell.allCases)
    func completion(shell: CompletionShell) throws {
        #expect(try options(["--completion", shell.rawValue]).action == .completion(shell))
        let script = shell.script(for: DaemonCommand.root)
        for option in DaemonCommand.root.options {
            #expect(script.contains(shell == .fish ? "-l \(option.name) " : "--\(option.name)"))
        }
        #expect(throws: UsageError.self) { try options(["--completion=csh"]) }
    }

    @Test("bash offers the options by their beginning, and the values that there are")
    func bash() throws {
        #expect(try BashOffers.of(["--st"], for: DaemonCommand.root) == ["--state-dir"])
        #expect(try BashOffers.of(["-f", "--ui-h"], for: DaemonCommand.root) == ["--ui-hosts"])
        #expect(try BashOffers.of(["--completion", "f"], for: DaemonCommand.root) == ["fish"])
        let folder = try TemporaryFolder()
        try folder.write("a.conf", "")
        #expect(
            try BashOffers.of(["--config", "\(folder.path)/"], for: DaemonCommand.root)
                == ["\(folder.path)/a.conf"])
    }

    @Test("what makes no sense is refused, and nothing that could be a token is repeated")
    func refusals() {
        #expect(throws: UsageError.unknownOption("--token", path: [])) { try options(["--token=sEcReT"]) }
        #expect(throws: UsageError.surplusArgument(nil, path: [])) { try options(["sEcReT"]) }
        #expect(throws: UsageError.missingValue(option: "--socket", path: [])) { try options(["--socket"]) }
        #expect(throws: UsageError.missingValue(option: "--socket", path: [])) { try options(["--socket="]) }
        #expect(throws: UsageError.surplusValue(option: "--foreground", path: [])) {
            try options(["--foreground=1"])
        }
        for words in [["--log-level", "loud"], ["--state-dir", "relative"], ["--socket", "./x"]] {
            #expect(throws: UsageError.self) { try options(words) }
        }
        for words in [["sEcReT"], ["--token=sEcReT"], ["-sEcReT"], ["--foreground=sEcReT"]] {
            let error = #expect(throws: UsageError.self) { try options(words) }
            #expect(error?.description(of: "nexusguard-agent").contains("EcReT") == false, "\(words)")
        }
    }
}
