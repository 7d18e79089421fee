// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import NexusGuard
import NexusGuardAgent
import Testing

@Suite("the live view on a terminal")
struct LiveViewTests {
    private func start(
        _ served: ServedAgent, width: Int = 80, height: Int = 24, environment: [String: String] = [:]
    ) throws -> PseudoTerminal {
        try PseudoTerminal(
            [Built.path("nexusguard"), "--socket", served.socket, "status", "--watch"], width: width,
            height: height,
            environment: environment.merging(["NEXUSGUARD_TIMEOUT": ServedAgent.patience]) { $1 })
    }

    /// Whether a terminal is as a shell wants it.
    private func isRestored(_ terminal: PseudoTerminal) -> Bool {
        terminal.modes == (true, false, true) && terminal.echoes
    }

    @Test("the live view says that the agent is gone, keeps what it told last, and goes on when it is back")
    func restart() async throws {
        let served = try ServedAgent()
        let terminal = try start(served)
        #expect(await terminal.eventually { $0[1] == "○ Disconnected" })
        served.stop()
        #expect(
            await terminal.eventually { $0[1].hasPrefix("● Agent not reachable: it has not answered since ") }
        )
        #expect(terminal.colour(of: "Agent not reachable") == 31)
        #expect(terminal.rows.contains("What it last told:"))
        #expect(terminal.rows.contains { $0.hasPrefix("  Admin Web") })
        let second = LocalAPI(
            control: served.agent, log: served.log, options: LocalAPI.Options(socketPath: served.socket))
        try second.start()
        defer { second.stop() }
        #expect(await terminal.eventually { $0[1] == "○ Disconnected" })
        #expect(terminal.rows[2].hasPrefix("The agent is back since "))
        terminal.type("q")
        #expect(await terminal.exitStatus() == 0)
        #expect(isRestored(terminal))
    }

    @Test("the live view may be there before the agent")
    func early() async throws {
        let served = try ServedAgent()
        served.stop()
        let terminal = try start(served)
        #expect(
            await terminal.eventually { $0[1] == "● Agent not reachable: it does not answer yet" })
        let second = LocalAPI(
            control: served.agent, log: served.log, options: LocalAPI.Options(socketPath: served.socket))
        try second.start()
        defer { second.stop() }
        #expect(await terminal.eventually { $0[1] == "○ Disconnected" })
        #expect(!terminal.rows[2].hasPrefix("The agent is back"))
    }

    @Test(
        "every signal that ends the live view leaves the terminal as it was",
        arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT])
    func signals(number: Int32) async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let terminal = try start(served)
        #expect(await terminal.eventually { $0[1] == "○ Disconnected" })
        #expect(!isRestored(terminal))
        terminal.signal(number)
        #expect(await terminal.exitStatus() == 0)
        #expect(isRestored(terminal))
        #expect(terminal.written.unknown.isEmpty)
    }

    @Test("a view that is stopped gives the terminal to the shell and takes it again, whoever stopped it")
    func suspended() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let terminal = try start(served)
        #expect(await terminal.eventually { $0[1] == "○ Disconnected" })
        for number in [SIGTSTP, SIGSTOP, SIGTSTP] {
            terminal.signal(number)
            #expect(await terminal.eventually { _ in terminal.isStopped })
            if number == SIGTSTP { #expect(isRestored(terminal)) }
            let name = "vpn\(number)"
            await served.agent.show {
                $0.tunnel = TunnelInfo(interface: name, addresses: [], allowedIPs: [], mtu: 1420)
            }
            terminal.signal(SIGCONT)
            #expect(await terminal.eventually { $0[1] == "○ Disconnected" })
            #expect(await terminal.eventually { rows in rows.contains { $0.contains(name) } })
            #expect(terminal.modes == (false, true, false))
            #expect(!terminal.echoes)
        }
        terminal.type("q")
        #expect(await terminal.exitStatus() == 0)
        #expect(isRestored(terminal))
    }

    @Test("wide characters and control characters of a server do not disturb the picture")
    func injection() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let terminal = try start(served, width: 60, height: 20)
        let hostile = "日本語サーバー🚀" + String(repeating: "\u{1b}[2J\u{1b}[31m\r\n\u{9b}5A\u{202e}語", count: 40)
        await served.agent.show { snapshot in
            snapshot.adminURL = hostile
            snapshot.reason = HealthItem(code: "tls", text: hostile)
            snapshot.health = [HealthItem(code: "store-degraded", text: hostile)]
        }
        served.log.add(level: .warn, tag: "server", message: hostile)
        served.log.add(level: .info, tag: "test", message: "the end")
        #expect(await terminal.eventually { $0[18].hasSuffix("[INFO] test: the end") })
        let rows = terminal.rows
        #expect(rows[0].hasPrefix("NexusGuard "))
        #expect(rows[1] == "○ Disconnected")
        #expect(rows[19] == "q quits")
        #expect(rows.contains { $0.hasPrefix("  Admin Web   日本語サーバー🚀?[2J") })
        #expect(terminal.written.unknown.isEmpty)
        terminal.type("q")
        #expect(await terminal.exitStatus() == 0)
        #expect(isRestored(terminal))
    }

    @Test(
        "a terminal that cannot be drawn on gets lines without an escape sequence", arguments: ["dumb", ""])
    func dumb(terminalName: String) async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let terminal = try start(served, width: 100, environment: ["TERM": terminalName])
        #expect(await terminal.eventually { $0[0].hasSuffix("Z disconnected STOPPED") })
        await served.agent.show { $0.state = .connected }
        #expect(await terminal.eventually { $0[1].hasSuffix("Z connected STOPPED") })
        #expect(!terminal.written.bytes.contains(0x1b))
        terminal.signal(SIGINT)
        #expect(await terminal.exitStatus() == nil)
    }

    @Test("a picture that does not change is not drawn again, and one that does only where it differs")
    func economy() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        let terminal = try start(served)
        #expect(await terminal.eventually { $0[1] == "○ Disconnected" })
        #expect(await terminal.eventually { _ in terminal.written.bytes.count > 400 })
        let (before, begin, clock) = (terminal.written.bytes.count, ContinuousClock.now, terminal.rows[0])
        #expect(await terminal.eventually { $0[0] != clock })
        // The row of the clock and the sequences around it, for each second that went by.
        let seconds = Int((ContinuousClock.now - begin).components.seconds) + 2
        #expect(terminal.written.bytes.count - before <= 150 * seconds)
        terminal.type("\u{c}")
        #expect(await terminal.eventually { _ in terminal.written.bytes.count - before > 400 })
        #expect(terminal.rows[1] == "○ Disconnected")
    }
}
