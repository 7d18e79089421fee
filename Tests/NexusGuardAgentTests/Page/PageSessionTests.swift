// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Glibc
import Testing

@testable import NexusGuardAgent

@Suite("links and sessions of the page")
struct PageSessionTests {
    @Test("a link opens a session once, and the session does what the socket does")
    func once() async throws {
        let bench = try await PageBench()
        let link = try await bench.link()
        #expect(link.wholeMatch(of: #/[A-Za-z0-9_-]{43}/#) != nil)
        let first = try await bench.login(link: link)
        #expect(first.status == 200)
        #expect(first.header("Cache-Control") == "no-store")
        #expect(first.object["schema"] as? Int == 1)
        #expect(first.object["read_only"] as? Bool == false)
        #expect(first.object["idle_timeout"] as? Int == 1800)
        let session = try #require(first.text("session"))
        #expect(session.wholeMatch(of: #/[A-Za-z0-9_-]{43}/#) != nil)
        let second = try await bench.login(link: link)
        #expect(second.status == 401)
        #expect(second.code == "link-used")
        let status = try await bench.send("GET", "/api/v1/status", session: session)
        #expect(status.status == 200)
        let snapshot = try AgentSnapshot(parsing: Array(status.body.utf8))
        #expect(snapshot.serverURL == "https://control.example.net")
        let up = try await bench.send("POST", "/api/v1/tunnel", session: session, body: #"{"up":true}"#)
        #expect(up.status == 200)
        #expect(await bench.agent.calls == ["up"])
        await bench.page.stop()
    }

    @Test("of many who use a link at once, one gets in")
    func race() async throws {
        let bench = try await PageBench()
        let link = try await bench.link()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<16 { group.addTask { try await bench.login(link: link).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.filter { $0 == 200 }.count == 1)
        #expect(statuses.filter { $0 == 401 }.count == 15)
        await bench.page.stop()
    }

    @Test("a link is good for two minutes, and one that was never made opens nothing")
    func life() async throws {
        let bench = try await PageBench()
        _ = try await bench.session()
        let (early, late) = (try await bench.link(), try await bench.link())
        await bench.advance(by: .seconds(119))
        #expect(try await bench.login(link: early).status == 200)
        await bench.advance(by: .seconds(1))
        let expired = try await bench.login(link: late)
        #expect(expired.status == 401)
        #expect(expired.code == "link-expired")
        for unknown in ["", "x", String(repeating: "A", count: 43), "\u{e9}\u{1F600}", early + " "] {
            let answer = try await bench.login(link: unknown)
            #expect(answer.status == 401)
            #expect(answer.code == "link-unknown")
        }
        await bench.page.stop()
    }

    @Test("what is no login is refused by its field")
    func malformed() async throws {
        let bench = try await PageBench()
        _ = try await bench.link()
        for body in ["{}", "[]", "nonsense", #"{"link":7}"#, #"{"link":"a","password":"b"}"#, ""] {
            let answer = try await bench.send("POST", "/api/v1/ui/login", body: body)
            #expect(answer.status == 400, "\(body)")
        }
        let unset = try await bench.send("POST", "/api/v1/ui/login", body: #"{"password":"whatever it is"}"#)
        #expect(unset.status == 401)
        #expect(unset.code == "password-unset")
        let kinds = try await bench.send("GET", "/api/v1/ui/login")
        #expect(kinds.body == #"{"schema":1,"password":false}"# + "\n")
        await bench.page.stop()
    }

    @Test("without a session, with another's and with an ended one nothing is told")
    func ended() async throws {
        let bench = try await PageBench()
        let session = try await bench.session()
        _ = try await bench.session()
        let wrong = ["": "", "Bearer": "", "x": "", "Basic \(session)": "", "Bearer x\(session)": ""].keys
        for value in wrong {
            let answer = try await bench.send("GET", "/api/v1/status", headers: ["Authorization": value])
            #expect(answer.status == 401, "\(value)")
            #expect(answer.code == "session-ended")
            #expect(!answer.body.contains("control.example.net"))
        }
        let query = try await bench.send("GET", "/api/v1/status?session=\(session)")
        #expect(query.status == 401)
        let cookie = try await bench.send("GET", "/api/v1/status", headers: ["Cookie": "session=\(session)"])
        #expect(cookie.status == 401)
        #expect(try await bench.send("GET", "/api/v1/status", session: session).status == 200)
        let out = try await bench.send("POST", "/api/v1/ui/logout", session: session, body: "{}")
        #expect(out.status == 204)
        let after = try await bench.send("GET", "/api/v1/status", session: session)
        #expect(after.status == 401)
        #expect(after.code == "session-ended")
        await bench.page.stop()
    }

    @Test("a session ends after half an hour without use, and any use prolongs it")
    func idle() async throws {
        let bench = try await PageBench()
        let (used, unused) = (try await bench.session(), try await bench.session())
        for _ in 0..<3 {
            await bench.advance(by: .seconds(1799))
            #expect(try await bench.send("GET", "/api/v1/status", session: used).status == 200)
        }
        #expect(try await bench.send("GET", "/api/v1/status", session: unused).code == "session-ended")
        await bench.advance(by: .seconds(1800))
        // Nobody is left, so nobody is listened to.
        #expect(await bench.page.listener == nil)
    }

    @Test("the listener ends with the last session or link, and the next link begins another")
    func listening() async throws {
        let bench = try await PageBench()
        #expect(await bench.page.listener == nil)
        _ = try await bench.link()
        let port = try await bench.port
        await bench.advance(by: .seconds(120))
        #expect(await bench.page.listener == nil)
        let isRefused = await bench.eventually {
            guard let descriptor = try? RawHTTP.connect(port: port) else { return true }
            close(descriptor)
            return false
        }
        #expect(isRefused)
        let session = try await bench.session()
        #expect(try await bench.send("POST", "/api/v1/ui/logout", session: session, body: "{}").status == 204)
        #expect(await bench.eventually { await bench.page.listener == nil })
        #expect(try await bench.login(link: try await bench.link()).status == 200)
        await bench.page.stop()
    }

    @Test("a read-only session looks at everything and changes nothing")
    func readOnly() async throws {
        let bench = try await PageBench()
        let answer = try await bench.login(link: try await bench.link(isReadOnly: true))
        #expect(answer.object["read_only"] as? Bool == true)
        let session = try #require(answer.text("session"))
        for route in APIRoute.allCases where !route.isLocalOnly && route != .events {
            let body = ["POST", "PUT"].contains(route.method) ? #"{"up":true}"# : nil
            let answer = try await bench.send(route.method, route.path, session: session, body: body)
            if route.method == "GET" {
                #expect(answer.status == 200, "\(route)")
            } else {
                #expect(answer.status == 403, "\(route)")
                #expect(answer.code == "read-only")
            }
            #expect(!answer.body.contains(FakeAgent.privateKey))
        }
        #expect(await bench.agent.calls.isEmpty)
        #expect(try await bench.send("POST", "/api/v1/ui/logout", session: session, body: "{}").status == 204)
        await bench.page.stop()
    }

    @Test("the administrator can make every session one that only looks, those that are open as well")
    func allReadOnly() async throws {
        let bench = try await PageBench()
        let session = try await bench.session()
        var settings = PageSettings()
        settings.isReadOnly = true
        await bench.page.apply(settings)
        let down = try await bench.send("POST", "/api/v1/tunnel", session: session, body: #"{"up":false}"#)
        #expect(down.code == "read-only")
        let answer = try await bench.login(link: try await bench.link())
        #expect(answer.object["read_only"] as? Bool == true)
        await bench.page.stop()
    }

    @Test("of links and sessions there are so many and no more; the oldest give way")
    func limits() async throws {
        let bench = try await PageBench()
        let first = try await bench.session()
        await bench.advance(by: .seconds(1))
        let oldest = try await bench.link()
        for _ in 0..<PageTable.mostLinks {
            await bench.advance(by: .milliseconds(1))
            _ = try await bench.link()
        }
        #expect(try await bench.login(link: oldest).code == "link-unknown")
        for _ in 0..<PageTable.mostSessions { _ = try await bench.session() }
        #expect(await bench.page.table.sessions.count == PageTable.mostSessions)
        #expect(try await bench.send("GET", "/api/v1/status", session: first).code == "session-ended")
        await bench.page.stop()
    }

    @Test("neither a link nor a session is in the log, and each step of theirs is")
    func log() async throws {
        let bench = try await PageBench()
        let link = try await bench.link()
        let session = try #require(try await bench.login(link: link).text("session"))
        _ = try await bench.login(link: link)
        _ = try await bench.send("POST", "/api/v1/tunnel", session: session, body: #"{"up":true}"#)
        _ = try await bench.send(
            "POST", "/api/v1/provision", session: session, body: #"{"token":"sEcReT-token-of-a-device"}"#)
        _ = try await bench.send("POST", "/api/v1/ui/logout", session: session, body: "{}")
        await bench.page.stop()
        let text = bench.log.getLogs().map(\.message).joined(separator: "\n")
        for secret in [link, session, "sEcReT"] { #expect(!text.contains(secret)) }
        for step in [
            "listens on 127.0.0.1:", "a link was made", "has begun (127.0.0.1)", "a link was refused",
            "POST /api/v1/tunnel, session", "has ended: logged out", "no longer listens",
        ] {
            #expect(text.contains(step), "\(step)")
        }
    }
}
