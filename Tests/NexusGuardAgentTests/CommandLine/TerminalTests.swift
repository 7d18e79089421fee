// SPDX-License-Identifier: MIT

import AgentStore
import FoundationEssentials
import Glibc
import NexusGuard
import NexusGuardAgent
import Testing

@Suite("nexusguard on a terminal")
struct TerminalTests {
    private func start(
        _ served: ServedAgent, _ arguments: [String], width: Int = 80, height: Int = 24,
        environment: [String: String] = [:]
    ) throws -> PseudoTerminal {
        try PseudoTerminal(
            [Built.path("nexusguard"), "--socket", served.socket] + arguments, width: width, height: height,
            environment: environment.merging(["NEXUSGUARD_TIMEOUT": ServedAgent.patience]) { $1 })
    }

    /// Whether a terminal is as a shell wants it.
    private func isRestored(_ terminal: PseudoTerminal) -> Bool {
        terminal.modes == (true, false, true) && terminal.echoes
    }

    @Test("the live view fills 80 × 24, follows the agent, and leaves the terminal as it was")
    func live() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        served.log.add(level: .warn, tag: "heartbeat", message: "an old entry")
        let terminal = try start(served, ["status", "--watch"])
        #expect(await terminal.eventually { $0[1] == "○ Disconnected" })
        #expect(await terminal.eventually { rows in rows.contains { $0.contains("an old entry") } })
        #expect(terminal.rows[0].hasPrefix("NexusGuard \(AgentVersion.current)"))
        #expect(terminal.rows[23] == "q quits")
        #expect(terminal.modes.isAlternate)
        #expect(!terminal.modes.showsCursor)
        #expect(!terminal.echoes)
        #expect(terminal.colour(of: "[WARN]") != nil)
        await served.agent.show { snapshot in
            snapshot.state = .connected
            snapshot.tunnel = TunnelInfo(
                interface: "nexusguard0", addresses: ["10.172.21.2/32"], allowedIPs: ["0.0.0.0/0"],
                endpoint: "192.0.2.1:51820", lastHandshake: Date(), mtu: 1420)
        }
        #expect(await terminal.eventually { $0[1] == "● Connected" })
        #expect(terminal.rows.contains("  Interface   nexusguard0, MTU 1420"))
        #expect(terminal.rows.contains("  IP Address  10.172.21.2"))
        served.log.add(level: .error, tag: "tunnel", message: "a new entry")
        #expect(
            await terminal.eventually { rows in
                rows.contains { $0.hasSuffix("[ERROR] tunnel: a new entry") }
            })
        terminal.type("q")
        #expect(await terminal.exitStatus() == 0)
        #expect(isRestored(terminal))
    }

    @Test("the live view keeps to a window that changes its size")
    func resize() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        for number in 1...50 { served.log.add(level: .info, tag: "test", message: "entry \(number)") }
        let terminal = try start(served, ["status", "--watch"])
        #expect(await terminal.eventually { $0[22].hasSuffix("entry 50") })
        for (width, height) in [(40, 10), (120, 40), (30, 5), (80, 24)] {
            terminal.resize(width: width, height: height)
            #expect(await terminal.eventually { $0[height - 1] == "q quits" }, "\(width) × \(height)")
            #expect(terminal.rows[1] == "○ Disconnected")
        }
        terminal.type("\u{3}")
        #expect(await terminal.exitStatus() == 0)
        #expect(isRestored(terminal))
    }

    @Test("states have colours, and NO_COLOR takes them away")
    func colours() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let colourful = try start(served, ["status", "--watch"])
        let plain = try start(served, ["status", "--watch"], environment: ["NO_COLOR": "1"])
        for (state, name, number) in [
            (AgentState.connected, "Connected", 32), (.connecting, "Connecting", 33), (.failed, "Failed", 31),
        ] {
            await served.agent.show { $0.state = state }
            #expect(await colourful.eventually { $0[1] == "● \(name)" })
            #expect(colourful.colour(of: name) == number)
            #expect(await plain.eventually { $0[1] == "● \(name)" })
            #expect(plain.colour(of: name) == 0)
        }
        colourful.signal(SIGTERM)
        #expect(await colourful.exitStatus() == 0)
        #expect(isRestored(colourful))
    }

    @Test("a token is asked for and not shown, with mistakes taken back")
    func token() async throws {
        let served = try ServedAgent(isProvisioned: false)
        defer { served.stop() }
        let terminal = try start(served, ["provision"])
        #expect(await terminal.eventually { $0[0] == "Token:" })
        #expect(!terminal.echoes)
        terminal.type("wrong\u{15}sEcRé\u{7f}eTx\u{8}\r")
        #expect(await terminal.exitStatus() == 0)
        #expect(await served.agent.calls == ["provision sEcReT"])
        #expect(!terminal.rows.joined().contains("sEc"))
        #expect(isRestored(terminal))
    }

    @Test("a question that is broken off leaves the terminal as it was and sends nothing")
    func cancelled() async throws {
        let served = try ServedAgent(isProvisioned: false)
        defer { served.stop() }
        for end in ["\u{3}", "\u{4}", "SIGTERM", "SIGHUP"] {
            let terminal = try start(served, ["provision"])
            #expect(await terminal.eventually { $0[0] == "Token:" })
            let former = terminal.readCount
            terminal.type("sEcReT")
            switch end {
            case "SIGTERM", "SIGHUP":
                // The terminal shows what comes to it when the program has ended, as every terminal does.
                #expect(await terminal.eventually { _ in terminal.readCount >= former + 6 })
                terminal.signal(end == "SIGTERM" ? SIGTERM : SIGHUP)
            case "\u{4}": terminal.type("\u{15}\u{4}")
            default: terminal.type(end)
            }
            _ = await terminal.exitStatus()
            #expect(isRestored(terminal), "\(end)")
            #expect(!terminal.rows.joined().contains("sEc"))
        }
        #expect(await served.agent.calls.isEmpty)
    }

    @Test("what was typed at a question and not read never reaches the shell", arguments: [SIGTERM, SIGHUP])
    func unread(number: Int32) async throws {
        let served = try ServedAgent(isProvisioned: false)
        defer { served.stop() }
        // The shell goes on after the signal, and reads what the terminal still has for it.
        let script = """
            trap : TERM HUP; "$0" --socket "$1" provision; echo "ended $?"; read -r line; echo "read <$line>"
            """
        let terminal = try PseudoTerminal(
            ["/bin/sh", "-c", script, Built.path("nexusguard"), served.socket],
            environment: ["NEXUSGUARD_TIMEOUT": ServedAgent.patience])
        #expect(await terminal.eventually { $0[0] == "Token:" })
        // While it is stopped it reads nothing; the signal comes first when it goes on.
        terminal.signalAll(SIGSTOP)
        #expect(await terminal.eventually { _ in terminal.isStopped })
        terminal.type("sEcReT\r")
        // The read that was under way may still take the first one.
        #expect(await terminal.eventually { _ in terminal.unreadCount >= 6 })
        terminal.signalAll(number)
        terminal.signalAll(SIGCONT)
        #expect(await terminal.eventually { rows in rows.contains { $0.hasSuffix("ended \(128 + number)") } })
        terminal.type("next\r")
        #expect(await terminal.eventually { $0.contains("read <next>") })
        #expect(!terminal.rows.joined().contains("sEc"))
        #expect(await terminal.exitStatus() == 0)
    }

    @Test("what cannot be taken back is done only after yes", arguments: ["y", "yes", "n", "", "what"])
    func confirmation(answer: String) async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let terminal = try start(served, ["reset"])
        #expect(await terminal.eventually { $0[0].hasSuffix("[y/N]") })
        terminal.type(answer + "\r")
        let isYes = answer.hasPrefix("y")
        #expect(await terminal.exitStatus() == (isYes ? 0 : 1))
        #expect(await served.agent.calls == (isYes ? ["reset"] : []))
    }

    @Test("a pasted configuration is not shown, its difference is, and it is applied after yes")
    func paste() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let terminal = try start(served, ["config", "paste"])
        #expect(await terminal.eventually { $0[0].hasPrefix("Paste the configuration") })
        // A line beyond the 4,095 bytes that a terminal's own editing holds.
        let comment = "# " + String(repeating: "x", count: 6000)
        terminal.type(
            """
            [Interface]\r\(comment)\rPrivateKey = ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8=\rAddress = 10.9.9.9/32\r
            [Peer]\rPublicKey = HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=\rAllowedIPs = 10.0.0.0/8\rEndpoint = 192.0.2.1:51820\r\u{4}
            """)
        #expect(await terminal.eventually { rows in rows.contains { $0.hasSuffix("[y/N]") } })
        #expect(terminal.rows.contains("  + 10.9.9.9/32"))
        #expect(terminal.rows.contains("  - 10.172.21.2/32"))
        #expect(terminal.colour(of: "+ 10.9.9.9/32") == 32)
        #expect(!terminal.rows.joined().contains("ABEiM0RV"))
        terminal.type("y\r")
        #expect(await terminal.exitStatus() == 0)
        #expect(await served.agent.calls == ["rebuild"])
        #expect(await served.agent.wireGuardConfig?.addresses.map(\.description) == ["10.9.9.9/32"])
    }

    @Test("a passphrase is asked for twice, and two different ones are refused")
    func passphrase() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let folder = try TemporaryFolder()
        let path = folder.path + "/export.json"
        for (second, status) in [("correct horsf", Int32(1)), ("correct horse", 0)] {
            let terminal = try start(served, ["config", "export", "--with-secrets", "-o", path])
            #expect(await terminal.eventually { $0[0] == "Passphrase:" })
            terminal.type("correct horse\r")
            #expect(await terminal.eventually { $0[1] == "Once more:" })
            terminal.type(second + "\r")
            #expect(await terminal.exitStatus() == status)
            #expect(!terminal.rows.joined().contains("horse\n"))
            #expect(access(path, F_OK) == (status == 0 ? 0 : -1))
        }
        var information = stat()
        #expect(stat(path, &information) == 0)
        #expect(information.st_mode & 0o7777 == 0o600)
        // The same file comes back on a device without an identity, once its passphrase is known.
        let other = try ServedAgent(isProvisioned: false)
        defer { other.stop() }
        let terminal = try start(other, ["config", "import", path, "--yes"])
        #expect(await terminal.eventually { $0[0] == "Passphrase:" })
        terminal.type("correct horse\r")
        #expect(await terminal.exitStatus() == 0)
        #expect(await other.agent.wireGuardConfig?.deviceID == FakeAgent.deviceID)
    }
}
