// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Glibc
import Testing

@testable import NexusGuardAgent

@Suite("the page's password")
struct PagePasswordTests {
    private static let password = "correct horse battery"

    private func settings(in folder: TemporaryFolder, _ password: String = password) throws -> PageSettings {
        try folder.write("password", password + "\n")
        var settings = PageSettings()
        settings.passwordFile = folder.path + "/password"
        return settings
    }

    private func login(
        _ bench: PageBench, _ password: String, from source: UInt32 = 1
    ) async throws -> RawHTTP.Answer {
        try await bench.send(
            "POST", "/api/v1/ui/login", body: #"{"password":"\#(password)"}"#, from: source)
    }

    @Test("it opens a session without a link, and the page is there for that without being asked for")
    func opens() async throws {
        let folder = try TemporaryFolder()
        let settings = try settings(in: folder)
        let bench = try await PageBench { $0.settings = settings }
        #expect(await bench.page.listener != nil)
        let kinds = try await bench.send("GET", "/api/v1/ui/login")
        #expect(kinds.body == #"{"schema":1,"password":true}"# + "\n")
        let answer = try await login(bench, Self.password)
        #expect(answer.status == 200)
        let session = try #require(answer.text("session"))
        #expect(try await bench.send("GET", "/api/v1/status", session: session).status == 200)
        await bench.advance(by: .seconds(1800))
        #expect(try await bench.send("GET", "/api/v1/status", session: session).code == "session-ended")
        #expect(!bench.log.getLogs().contains { $0.message.contains("horse") })
        await bench.page.stop()
    }

    @Test("after five wrong ones an address waits, longer each time, and others do not")
    func guesses() async throws {
        let folder = try TemporaryFolder()
        let settings = try settings(in: folder)
        let bench = try await PageBench { $0.settings = settings }
        for _ in 0..<5 {
            let answer = try await login(bench, "wrong horse battery")
            #expect(answer.status == 401)
            #expect(answer.code == "password-wrong")
        }
        let refused = try await login(bench, Self.password)
        #expect(refused.status == 429)
        #expect(refused.code == "too-many-guesses")
        #expect(refused.header("Retry-After") == "60")
        #expect(try await login(bench, Self.password, from: 77).status == 200)
        await bench.advance(by: .seconds(59))
        #expect(try await login(bench, Self.password).header("Retry-After") == "1")
        await bench.advance(by: .seconds(1))
        #expect(try await login(bench, "wrong again, and again").status == 401)
        #expect(try await login(bench, Self.password).header("Retry-After") == "120")
        await bench.advance(by: .seconds(120))
        #expect(try await login(bench, Self.password).status == 200)
        // Who knows it begins anew.
        #expect(try await login(bench, "wrong again, and again").status == 401)
        #expect(try await login(bench, Self.password).status == 200)
        // A link never waits.
        for _ in 0..<5 { _ = try await login(bench, "wrong horse battery") }
        #expect(try await login(bench, Self.password).status == 429)
        #expect(try await bench.login(link: try await bench.link()).status == 200)
        await bench.page.stop()
    }

    @Test("pauses are bounded, are one for a network of IPv6, and memory is bounded too")
    func gate() {
        var gate = PasswordGate()
        var now = Duration.seconds(100)
        var pauses: [Int64] = []
        for _ in 0..<40 {
            if let pause = gate.noteWrong("192.0.2.1", at: now) {
                pauses.append(pause.components.seconds)
                now += pause
            }
        }
        #expect(pauses == [60, 120, 240, 480] + Array(repeating: 900, count: 32))
        for number in 0..<5 { _ = gate.noteWrong("2001:db8::\(number)", at: now) }
        #expect(gate.pause(of: "2001:db8::ffff", at: now) == .seconds(60))
        #expect(gate.pause(of: "2001:db8:0:1::1", at: now) == nil)
        for number in 0..<5000 { _ = gate.noteWrong("10.0.\(number / 250).\(number % 250)", at: now) }
        #expect(gate.addressCount <= 1024)
        #expect(gate.pause(of: "192.0.2.1", at: now + .seconds(4000)) == nil)
        // An hour later a guess counts as the first.
        for _ in 0..<4 { #expect(gate.noteWrong("198.51.100.9", at: now) == nil) }
        #expect(gate.noteWrong("198.51.100.9", at: now + .seconds(3600)) == nil)
    }

    @Test("another password ends the sessions that the former one opened, and no others")
    func changed() async throws {
        let folder = try TemporaryFolder()
        let settings = try settings(in: folder)
        let bench = try await PageBench { $0.settings = settings }
        let byPassword = try #require(try await login(bench, Self.password).text("session"))
        let byLink = try await bench.session()
        await bench.page.apply(settings)
        #expect(try await bench.send("GET", "/api/v1/status", session: byPassword).status == 200)
        // A file as an administrator writes it: replaced, not written into.
        #expect(unlink(folder.path + "/password") == 0)
        let changed = try self.settings(in: folder, "incorrect horse battery")
        await bench.page.apply(changed)
        #expect(try await bench.send("GET", "/api/v1/status", session: byPassword).code == "session-ended")
        #expect(try await bench.send("GET", "/api/v1/status", session: byLink).status == 200)
        #expect(try await login(bench, Self.password).code == "password-wrong")
        #expect(try await login(bench, "incorrect horse battery").status == 200)
        await bench.page.stop()
    }

    @Test("a file that is open to others, short or long is refused with its name and not its content")
    func files() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/password"
        func refusal(_ text: String, mode: mode_t = 0o600) throws -> String {
            unlink(path)
            try folder.write("password", text, mode: mode)
            chmod(path, mode)
            do throws(AgentError) {
                _ = try PagePassword(contentsOf: path)
                return ""
            } catch {
                return error.description
            }
        }
        #expect(try refusal("0123456789ab") == "")
        #expect(try refusal("0123456789ab\r\n", mode: 0o640) == "")
        #expect(try refusal(String(repeating: "x", count: 1024)) == "")
        for mode in [0o644, 0o604, 0o602, 0o660] as [mode_t] {
            #expect(try refusal("0123456789ab", mode: mode).contains("is open to others"))
        }
        for text in ["", "\n", "0123456789a", "0123456789a\n", String(repeating: "x", count: 1025)] {
            let sentence = try refusal(text)
            #expect(sentence.hasPrefix("ui_password_file: \(path) "), "\(sentence)")
            #expect(!sentence.contains("0123456789"))
        }
        #expect(throws: AgentError.self) { try PagePassword(contentsOf: folder.path + "/absent") }
        #expect(throws: AgentError.self) { try PagePassword(contentsOf: folder.path) }
    }
}
