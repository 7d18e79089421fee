// SPDX-License-Identifier: MIT

import NexusGuardAgent
import Testing

@testable internal import nexusguard_agent

@Suite("the options of nexusguard-agent")
struct DaemonOptionsTests {
    private func options(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) throws(DaemonOptionError) -> DaemonOptions {
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
        for name in ["--state-dir", "--runtime-dir", "--config", "--socket", "--log-level"] {
            #expect(DaemonOptions.usage.contains(name))
        }
    }

    @Test("what makes no sense is refused, and nothing that could be a token is repeated")
    func refusals() {
        #expect(throws: DaemonOptionError.unknownOption("--token")) { try options(["--token=sEcReT"]) }
        #expect(throws: DaemonOptionError.surplusArgument) { try options(["sEcReT"]) }
        #expect(throws: DaemonOptionError.missingValue("--socket")) { try options(["--socket"]) }
        #expect(throws: DaemonOptionError.missingValue("--socket")) { try options(["--socket="]) }
        #expect(throws: DaemonOptionError.surplusValue("--foreground")) { try options(["--foreground=1"]) }
        for words in [["--log-level", "loud"], ["--state-dir", "relative"], ["--socket", "./x"]] {
            #expect(throws: DaemonOptionError.self) { try options(words) }
        }
        #expect(!DaemonOptionError.surplusArgument.description.contains("sEcReT"))
    }
}
