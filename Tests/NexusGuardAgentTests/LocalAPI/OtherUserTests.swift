// SPDX-License-Identifier: MIT

import Glibc
import NexusGuardAgent
import Testing

/// The permissions of other users, who connect for real: needs root to become them.
@Suite("the local API as another user", .enabled(if: geteuid() == 0, "becoming another user needs root"))
struct OtherUserTests {
    /// What each command may do for somebody who only observes.
    private static let refused: [[String]] = [
        ["up"], ["down"], ["restart"], ["refresh"], ["logs"], ["logs", "-f"], ["logs", "--clear"],
        ["forwards"],
        ["provision", "--token-stdin"], ["deprovision", "--yes"], ["hwid"], ["reset", "--yes"], ["settings"],
        ["settings", "set", "persistsLog=on"], ["config", "show"], ["config", "export"],
        ["config", "paste", "--yes"], ["netcheck"], ["bugreport", "-o", "-"],
    ]

    private func become(user: Int, groups: String?) -> [String] {
        let rest = groups.map { ["--groups", $0] } ?? ["--clear-groups"]
        return ["/usr/bin/setpriv", "--reuid", "\(user)", "--regid", "\(user)"] + rest + ["--"]
    }

    @Test("a stranger sees the redacted state and may do nothing else")
    func stranger() async throws {
        let served = try ServedAgent(group: "daemon")
        defer { served.stop() }
        served.log.add(level: .info, tag: "test", message: "private line")
        let prefix = become(user: 65_534, groups: nil)
        let status = try await served.run(["status"], prefix: prefix)
        #expect(status.status == 0, "\(status.errors)")
        #expect(status.text.contains("Note "))
        for secret in ["devi", "0123", "example.net"] { #expect(!status.text.contains(secret)) }
        #expect(try await served.run(["status", "--check", "live"], prefix: prefix).status == 0)
        #expect(try await served.run(["wait", "disconnected"], prefix: prefix).status == 0)
        for words in Self.refused {
            let output = try await served.run(words, prefix: prefix, input: "abc")
            if words == ["logs", "-f"] || words.first == "logs" {
                #expect(!output.text.contains("private line"))
            }
            #expect(output.status == 5, "\(words): \(output.text)\(output.errors)")
        }
        #expect(await served.agent.calls.isEmpty)
    }

    @Test("a member of the group of operators may do everything")
    func member() async throws {
        let served = try ServedAgent(group: "daemon")
        defer { served.stop() }
        // The group daemon has the number 1 on every Debian.
        for prefix in [
            become(user: 65_534, groups: "1"), become(user: 65_534, groups: "4,1,24"),
            become(user: 1, groups: nil),
        ] {
            #expect(try await served.run(["up"], prefix: prefix).status == 0)
            #expect(try await served.run(["hwid"], prefix: prefix).text == FakeAgent.hardware + "\n")
            #expect(try await served.run(["status"], prefix: prefix).text.contains("example.net"))
        }
        #expect(await served.agent.calls == ["up", "up", "up"])
        let other = try await served.run(["up"], prefix: become(user: 65_534, groups: "4,24"))
        #expect(other.status == 5)
        #expect(
            served.log.getLogs().contains {
                $0.tag == "api" && $0.message.hasPrefix("POST /api/v1/tunnel by user 65534, process ")
            })
    }

    @Test("the events of a stranger are the redacted state alone")
    func events() async throws {
        let served = try ServedAgent(group: "daemon")
        defer { served.stop() }
        served.log.add(level: .info, tag: "test", message: "private line")
        let request = #"GET /api/v1/events?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n"#
        // The connection is kept until the second event has come, and then long enough for others.
        let command = """
            out=$(TMPDIR=/tmp mktemp)
            (printf '\(request)'; for try in $(seq 1000); do grep -q 'event: health' $out && break; sleep 0.5; done
            sleep 2) | socat - UNIX-CONNECT:\(served.socket) >$out
            cat $out; rm $out
            """
        let output = try await Shell.runAside(
            become(user: 65_534, groups: nil) + ["/bin/sh", "-c", command])
        #expect(output.text.contains("event: snapshot"))
        for secret in ["event: log", "event: forwards", "private line", "devi", "example.net"] {
            #expect(!output.text.contains(secret))
        }
    }
}
