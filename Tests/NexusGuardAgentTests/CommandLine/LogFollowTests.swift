// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import NexusGuardAgent
import Testing

@testable internal import nexusguard

@Suite("nexusguard logs and status --watch in a pipe")
struct LogFollowTests {
    /// A command that goes on, and what it has printed.
    private final class Following: Sendable {
        private let folder: TemporaryFolder
        private let child: pid_t

        init(_ served: ServedAgent, _ arguments: [String], redirection: String = "") throws {
            folder = try TemporaryFolder()
            let words = [Built.path("nexusguard"), "--socket", served.socket] + arguments
            child = try Shell.start(
                ["/bin/sh", "-c", #"exec "$@" 2>\#(folder.path)/errors"#, "sh"] + words,
                environment: ["LC_ALL": "C", "TZ": "UTC", "NEXUSGUARD_TIMEOUT": ServedAgent.patience],
                output: folder.path + "/out")
        }

        deinit {
            kill(child, SIGKILL)
            var status: Int32 = 0
            _ = waitpid(child, &status, 0)
        }

        var lines: [String] { read("out") }
        var errors: [String] { read("errors") }

        private func read(_ name: String) -> [String] {
            ((try? folder.read(name)) ?? "").split(separator: "\n").map(String.init)
        }

        func eventually(_ holds: (Following) -> Bool) async -> Bool {
            for _ in 0..<30_000 {
                if holds(self) { return true }
                try? await Task.sleep(for: .milliseconds(20))
            }
            return false
        }
    }

    private func restarted(_ served: ServedAgent) throws -> LocalAPI {
        let api = LocalAPI(
            control: served.agent, log: served.log, options: LocalAPI.Options(socketPath: served.socket))
        try api.start()
        return api
    }

    @Test("entries follow over a restart of the daemon, each once, and the gap is told")
    func restart() async throws {
        let served = try ServedAgent()
        served.log.add(level: .info, tag: "test", message: "first")
        served.log.add(level: .debug, tag: "test", message: "hidden")
        let following = try Following(served, ["logs", "-f", "--level", "info"])
        #expect(await following.eventually { $0.lines.count == 1 })
        served.log.add(level: .warn, tag: "test", message: "second")
        #expect(await following.eventually { $0.lines.count == 2 })
        served.stop()
        #expect(await following.eventually { $0.errors == ["nexusguard: the agent is gone; waiting for it"] })
        // The log of this double outlives its interface, as one that is stored does: all of it is sent again.
        served.log.add(level: .error, tag: "test", message: "third")
        let second = try restarted(served)
        defer { second.stop() }
        #expect(await following.eventually { $0.errors.last == "nexusguard: the agent is back" })
        served.log.add(level: .info, tag: "test", message: "fourth")
        #expect(await following.eventually { $0.lines.count == 4 })
        let messages = following.lines.map { $0.split(separator: ": ").last.map(String.init) ?? "" }
        #expect(messages == ["first", "second", "third", "fourth"])
        #expect(following.lines[2].contains("[ERROR] test: "))
        #expect(following.errors.count == 2)
    }

    @Test("--since and -n choose what is shown first, and what follows is shown all the same")
    func since() async throws {
        let served = try ServedAgent()
        defer { served.stop() }
        for number in 1...5 { served.log.add(level: .info, tag: "test", message: "entry \(number)") }
        let last = try Following(served, ["logs", "-f", "-n", "2"])
        let future = try Following(served, ["--json", "logs", "-f", "--since", "2999-01-01"])
        #expect(await last.eventually { $0.lines.count == 2 })
        #expect(last.lines.first?.hasSuffix("entry 4") == true)
        while await served.agent.readerCount < 2 { try await Task.sleep(for: .milliseconds(20)) }
        served.log.add(level: .info, tag: "test", message: "entry 6")
        #expect(await last.eventually { $0.lines.last?.hasSuffix("entry 6") == true })
        #expect(last.lines.count == 3)
        #expect(future.lines.isEmpty)
    }

    @Test("a pipe gets a line for each change, also when the daemon goes and comes, and no escape sequence")
    func watch() async throws {
        let served = try ServedAgent()
        let text = try Following(served, ["--color", "always", "status", "--watch"])
        let json = try Following(served, ["--json", "status", "--watch"])
        #expect(await text.eventually { $0.lines.count == 1 })
        #expect(await json.eventually { $0.lines.count == 1 })
        served.stop()
        #expect(await text.eventually { $0.lines.last?.contains("Z agent-gone ") == true })
        #expect(await json.eventually { $0.lines.count == 2 })
        #expect(json.lines.last?.hasPrefix(#"{"schema":1,"error":{"code":"daemon-unreachable""#) == true)
        let second = try restarted(served)
        defer { second.stop() }
        #expect(await text.eventually { $0.lines.last?.hasSuffix("Z disconnected STOPPED") == true })
        #expect(await json.eventually { $0.lines.count == 3 })
        #expect(text.lines.count == 3)
        #expect(!(text.lines + json.lines).joined().contains("\u{1b}"))
    }

    @Test("an entry is known by its number and its time")
    func known() {
        func entry(_ number: Int, _ seconds: Double) -> ShownLogEntry {
            ShownLogEntry(
                number: number, timestamp: Date(timeIntervalSince1970: seconds), level: .info, tag: "",
                message: "")
        }
        var known = KnownEntries()
        func takes(_ number: Int, _ seconds: Double) -> Bool { known.insert(entry(number, seconds)) }
        #expect(takes(1, 10))
        #expect(!takes(1, 10))
        // The numbers of another run begin anew.
        #expect(takes(1, 20))
        #expect(takes(2, 20))
        #expect((3...10_000).allSatisfy { takes($0, 30) })
        #expect(!takes(10_000, 30))
        #expect(!takes(6000, 30))
        // What is this old is not sent again.
        #expect(takes(1, 10))
    }
}
