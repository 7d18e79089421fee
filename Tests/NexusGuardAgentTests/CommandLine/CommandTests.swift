// SPDX-License-Identifier: MIT

import AgentCore
import FoundationEssentials
import Glibc
import NexusGuardAgent
import Testing

@Suite("nexusguard against a daemon")
struct CommandTests {
    @Test("the state is shown for people and for programs")
    func status() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let text = try await served.run(["status"])
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.text.hasPrefix("* Disconnected\n"))
        #expect(text.text.contains("https://control.example.net"))
        #expect(!text.text.contains("\u{1b}"))
        let json = try await served.run(["--json", "status"])
        #expect(json.status == 0)
        #expect(try AgentSnapshot(parsing: Array(json.text.utf8)) == (await served.agent.snapshot))
    }

    @Test("up, down, restart and refresh reach the agent and show its state")
    func tunnel() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        #expect(try await served.run(["up"]).text == "* Connecting: waiting for the first handshake\n")
        #expect(try await served.run(["down"]).text == "* Disconnected\n")
        #expect(try await served.run(["restart"]).status == 0)
        #expect(try await served.run(["refresh"]).status == 0)
        #expect(await served.agent.calls == ["up", "down", "restart", "refresh"])
    }

    @Test("conditions are told by the exit status")
    func checks() async throws {
        let served = try ServedAgent()
        let live = try await served.run(["status", "--check", "live"])
        #expect(live.status == 0)
        #expect(live.text == "live\n")
        let notReady = try await served.run(["status", "--check", "ready"])
        #expect(notReady.status == 3)
        #expect(notReady.text == "not ready (disconnected)\n")
        await served.agent.show { $0.state = .connected }
        #expect(try await served.run(["status", "--check", "ready"]).status == 0)
        let json = try await served.run(["status", "--check", "ready", "--json"])
        #expect(json.text == #"{"schema":1,"ready":true,"state":"connected"}"# + "\n")
        served.stop()
        #expect(try await served.run(["status", "--check", "live"]).status == 4)
        #expect(try await served.run(["status", "--check", "ready"]).status == 4)
    }

    @Test("errors have an exit status each, a sentence, and JSON where that is wanted")
    func errors() async throws {
        let served = try ServedAgent()
        for (error, status) in [
            (AgentError.notProvisioned, 6), (.unauthorized, 8), (.revoked, 8), (.serverRejected(418), 8),
            (.rateLimited(retryAfter: nil), 8), (.handshakeTimedOut, 7), (.networkOffline, 1),
            (.secretStore(28), 1),
        ] {
            await served.agent.fail(error)
            let output = try await served.run(["refresh"])
            #expect(output.status == status, "\(error)")
            #expect(output.errors == "nexusguard: \(error.description)\n")
            let json = try await served.run(["--json", "refresh"])
            #expect(json.status == status)
            #expect(json.text.hasPrefix(#"{"schema":1,"error":{"code":"\#(error.code)","message":""#))
            #expect(json.errors.isEmpty)
        }
        served.stop()
        let gone = try await served.run(["status"])
        #expect(gone.status == 4)
        #expect(gone.errors.contains(served.socket))
        #expect(try await served.run(["frobnicate"]).status == 2)
    }

    @Test("up without an identity says so, and waiting ends at once")
    func unprovisioned() async throws {
        let served = try ServedAgent(isProvisioned: false)
        defer { served.stop() }
        #expect(try await served.run(["up"]).status == 6)
        let waiting = try await served.run(["up", "--timeout", "10m"])
        #expect(waiting.status == 6)
        #expect(waiting.errors == "nexusguard: a token is needed\n")
        let config = try await served.run(["config", "show"])
        #expect(config.status == 6)
    }

    @Test("wait ends when the state is reached, and not in time with its own exit status")
    func waiting() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        #expect(try await served.run(["wait", "disconnected"]).status == 0)
        // A service that is kept from answering until the time is over counts as one that is not there.
        var late = try await served.run(["wait", "connected", "--timeout", "2s"])
        for seconds in [10, 60, 300] where late.status == 4 {
            late = try await served.run(["wait", "connected", "--timeout", "\(seconds)s"])
        }
        #expect(late.status == 7)
        #expect(late.errors.contains("not connected in time"))
        async let output = served.run(["wait", "--timeout", "10m"])
        while await served.agent.readerCount == 0 { try await Task.sleep(for: .milliseconds(20)) }
        await served.agent.show { $0.state = .connected }
        #expect(try await output.status == 0)
        #expect(try await output.text == "* Connected\n")
    }

    @Test("wait goes on while no daemon is there yet")
    func early() async throws {
        let folder = try TemporaryFolder()
        let missing = try await Shell.runAside(
            [Built.path("nexusguard"), "--socket", folder.path + "/s", "wait", "--timeout", "1s"])
        #expect(missing.status == 4)
    }

    @Test("the token comes from a file, standard input or nowhere, and is shown nowhere")
    func tokens() async throws {
        let served = try ServedAgent(isProvisioned: false)
        defer { served.stop() }
        let folder = try TemporaryFolder()
        try folder.write("token", "  sEcReT-file \n\n")
        let file = try await served.run(["provision", "--token-file", folder.path + "/token"])
        #expect(file.status == 0, "\(file.errors)")
        #expect(file.errors.isEmpty)
        #expect(
            try await served.run(["provision", "--token-stdin"], input: "sEcReT-stdin\nrest").status == 0)
        #expect(try await served.run(["provision"], input: "sEcReT-pipe").status == 0)
        #expect(try await served.run(["provision", "--stored"]).status == 0)
        #expect(
            await served.agent.calls == [
                "provision sEcReT-file", "provision sEcReT-stdin", "provision sEcReT-pipe",
                "provision (stored)",
            ])
        try folder.write("open", "sEcReT-open", mode: 0o644)
        chmod(folder.path + "/open", 0o644)
        let warned = try await served.run(["provision", "--token-file", folder.path + "/open"])
        #expect(warned.errors.contains("can be read by others"))
        for words in [
            ["provision", "--token-stdin"], ["provision", "--token-file", folder.path + "/absent"],
        ] {
            let output = try await served.run(words, input: "\n")
            #expect(output.status == 1)
        }
        let all = [file, warned].map { $0.text + $0.errors }.joined()
        #expect(!all.contains("sEcReT"))
        #expect(!served.log.getLogs().contains { $0.message.contains("sEcReT") })
    }

    @Test("the server is set before the token is used")
    func server() async throws {
        let served = try ServedAgent(isProvisioned: false)
        defer { served.stop() }
        let output = try await served.run(
            ["provision", "--server", "https://other.example.net", "--token-stdin"], input: "abc")
        #expect(output.status == 0, "\(output.errors)")
        #expect(await served.agent.calls == ["update", "provision abc"])
        #expect(await served.agent.settings.serverURL == "https://other.example.net")
    }

    @Test("what cannot be taken back asks, and refuses where nobody can be asked")
    func confirmation() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        for command in ["reset", "deprovision"] {
            let refused = try await served.run([command], prefix: ["/usr/bin/setsid", "-w"], input: "y\n")
            #expect(refused.status == 2)
            #expect(refused.errors.contains("--yes"))
            #expect(try await served.run([command, "--yes"]).status == 0)
        }
        #expect(await served.agent.calls == ["reset", "deprovision"])
    }

    @Test("settings are shown, read, changed and refused by name")
    func settings() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let shown = try await served.run(["settings"])
        #expect(shown.text.contains("serverURL                    https://control.example.net\n"))
        #expect(shown.text.contains("certificateAuthorityFile     (not set)\n"))
        #expect(try await served.run(["settings", "get", "startsAutomatically"]).text == "true\n")
        let changed = try await served.run(
            ["settings", "set", "startsAutomatically=off", "interfaceName=vpn0"])
        #expect(changed.status == 0, "\(changed.errors)")
        #expect(await served.agent.settings.startsAutomatically == false)
        #expect(await served.agent.settings.interfaceName == "vpn0")
        let refused = try await served.run(["settings", "set", "interfaceName=a/b", "persistsLog=on"])
        #expect(refused.status == 1)
        #expect(refused.errors.contains("interfaceName"))
        #expect(await served.agent.settings.persistsLog == false)
        for name in ["serverURL", "interfaceName", "startsAutomatically"] {
            #expect(try await served.run(["settings", "unset", name]).status == 0)
        }
        #expect(await served.agent.settings.serverURL == nil)
        #expect(await served.agent.settings.interfaceName == AgentConfig().interfaceName)
        #expect(await served.agent.settings.startsAutomatically)
    }

    @Test("the hardware identifier and the versions are printed")
    func small() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        #expect(try await served.run(["hwid"]).text == FakeAgent.hardware + "\n")
        let version = AgentVersion.current
        #expect(try await served.run(["--version"]).text == "nexusguard \(version)\n")
        #expect(
            try await served.run(["version"]).text == "nexusguard \(version)\nnexusguard-agent \(version)\n")
        #expect(try await served.run(["forwards"]).text == "the server has told of no forwards\n")
    }

    @Test("output to a reader that has gone ends quietly")
    func brokenPipe() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let command = "\(Built.path("nexusguard")) --socket \(served.socket)"
        let output = try await Shell.runAside(
            [
                "/bin/bash", "-c",
                "set -o pipefail; \(command) status --watch | grep -m 1 STOPPED; \(command) --help | true",
            ], environment: ["NEXUSGUARD_TIMEOUT": ServedAgent.patience])
        #expect(output.errors.isEmpty)
        #expect(output.text.contains("disconnected STOPPED"))
    }
}
