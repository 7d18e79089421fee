// SPDX-License-Identifier: MIT

internal import Foundation
internal import Harness
internal import Testing

@Suite("The page by the command line", .enabled(if: Machine.isReady, Machine.skipReason))
struct PageCommandTests {
    /// Sends a request from the agent's host as a browser would, and gives the status and the content.
    private func request(
        _ agent: Agent, _ method: String, _ path: String, at origin: String, session: String = "",
        body: String = ""
    ) async throws -> (status: Int, text: String) {
        let authority = origin.split(separator: "/").last.map(String.init) ?? ""
        let place = authority.split(separator: ":").joined(separator: "/")
        let head = [
            "\(method) \(path) HTTP/1.1", "Host: \(authority)", "Connection: close", "Origin: \(origin)",
            "Authorization: Bearer \(session)", "Content-Type: application/json",
            "Content-Length: \(body.utf8.count)", "", body,
        ]
        // The request comes from standard input: arguments are for everybody to read.
        let script = "exec 3<>/dev/tcp/\(place); cat >&3; timeout 250 cat <&3"
        let output = try await Shell.run(
            agent.namespace.prefix + ["bash", "-c", script], input: head.joined(separator: "\r\n"))
        let words = output.standardOutput.split(separator: " ", maxSplits: 2)
        return (words.count > 1 ? Int(words[1]) ?? 0 : 0, output.standardOutput)
    }

    private struct Session: Decodable {
        let session: String
        let read_only: Bool
    }

    private func session(in text: String) throws -> Session {
        let start = text.firstIndex(of: "{") ?? text.endIndex
        return try JSONDecoder().decode(Session.self, from: Data(text[start...].utf8))
    }

    @Test("a printed link opens the page once, and what a session may do is what the command said")
    func link() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.agent()
            try await agent.start()
            for option in ["--print", "--read-only"] {
                let output = try await agent.command("ui", "--print", option)
                let parts = output.text.split(separator: "#", maxSplits: 1).map(String.init)
                let origin = String(parts[0].dropLast())
                #expect(origin.hasPrefix("http://127.0.0.1:"))
                #expect(output.standardError.contains("It works once, within 2 min."))
                #expect(try await request(agent, "GET", "/", at: origin).status == 200)
                let link = parts[1].dropFirst(2)
                let body = #"{"link":"\#(link)"}"#
                let login = try await request(agent, "POST", "/api/v1/ui/login", at: origin, body: body)
                #expect(login.status == 200, "\(login.text)")
                let session = try session(in: login.text)
                #expect(session.read_only == (option == "--read-only"))
                let again = try await request(agent, "POST", "/api/v1/ui/login", at: origin, body: body)
                #expect(again.status == 401)
                #expect(again.text.contains("link-used"))
                let status = try await request(
                    agent, "GET", "/api/v1/status", at: origin, session: session.session)
                #expect(status.status == 200)
                let down = try await request(
                    agent, "POST", "/api/v1/tunnel", at: origin, session: session.session,
                    body: #"{"up":false}"#)
                #expect(down.status == (option == "--read-only" ? 403 : 200), "\(down.text)")
                #expect(!agent.log.contains(link))
            }
            let refused = try await agent.run("ui", "--print", "--listen", "192.0.2.2:8451")
            #expect(refused.status == 1)
            #expect(refused.standardOutput.isEmpty)
            #expect(refused.standardError.contains("ui_password_file"))
            let json = try await agent.command("--json", "ui")
            #expect(json.standardOutput.hasPrefix(#"{"schema":1,"url":"http://127.0.0.1:"#))
        }
    }

    @Test("the traffic that the live view draws is there, and the log is followed over a restart")
    func live() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.connectedAgent()
            #expect(try await agent.namespace.ping(Site.inner))
            let following = try lab.spawn(
                in: agent.namespace, Program.command, "--socket", agent.socket, "--color", "always", "logs",
                "-f")
            let watching = try lab.spawn(
                in: agent.namespace, Program.command, "--socket", agent.socket, "--json", "status", "--watch")
            try await Shell.eventually("both tell something") {
                !following.standardOutput.isEmpty && !watching.standardOutput.isEmpty
            }
            try await agent.stop()
            try await Shell.eventually("both tell that the agent is gone") {
                following.standardError.contains("the agent is gone")
                    && watching.standardOutput.contains("daemon-unreachable")
            }
            try await agent.start()
            func begins() -> [Substring] {
                following.standardOutput.split(separator: "\n").filter { $0.contains("begins") }
            }
            try await Shell.eventually("both tell that it is back") {
                following.standardError.contains("the agent is back") && begins().count > 1
                    && watching.standardOutput.split(separator: "\n").last?.contains(#""state":"connected""#)
                        == true
            }
            #expect(begins().count == 2, "\(following.standardOutput)")
            #expect(!watching.standardOutput.contains("\u{1b}"))
        }
    }
}
