// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import AgentStore
import Testing

@testable import NexusGuardAgent

@Suite("links to the page by the local interface")
struct PageLinkRouteTests {
    private func request(_ body: String, user: UInt32 = 0) -> ServerRequest {
        ServerRequest(
            method: "POST", path: "/api/v1/ui/session",
            headers: [("Host", "localhost"), ("Content-Type", "application/json")], body: Array(body.utf8),
            peer: .unix(uid: user, gid: user, pid: 1, groups: [user]))
    }

    private func send(_ bench: PageBench, _ body: String, user: UInt32 = 0) async throws -> (Int, String) {
        guard case .response(let response) = await bench.api.reply(to: request(body, user: user)) else {
            throw RawHTTP.Failure(call: "reply", number: 0)
        }
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }

    @Test("an operator gets the address with a link in its fragment, which servers never see")
    func link() async throws {
        let bench = try await PageBench()
        for body in ["", "{}", #"{"read_only":true}"#, #"{"read_only":false,"listen":"127.0.0.1"}"#] {
            let (status, text) = try await send(bench, body)
            #expect(status == 200)
            let port = try await bench.port
            let form =
                ##/\{"schema":1,"url":"http://127\.0\.0\.1:(\d+)/#t=([A-Za-z0-9_-]{43})","expires_in":120\}\n/##
            let match = try #require(text.wholeMatch(of: form))
            #expect(match.1 == "\(port)")
            let answer = try await bench.login(link: String(match.2))
            #expect(answer.object["read_only"] as? Bool == body.contains("true"))
        }
        await bench.page.stop()
    }

    @Test("others get none, and what makes no sense is refused by its field")
    func refusals() async throws {
        let bench = try await PageBench()
        #expect(try await send(bench, "{}", user: 65_534).0 == 403)
        #expect(await bench.page.listener == nil)
        for (body, field) in [
            (#"{"read_only":"yes"}"#, "read_only"), (#"{"listen":"example.net:80"}"#, "listen"),
            (#"{"listen":"127.0.0.1:99999"}"#, "listen"), (#"{"listen":7}"#, "listen"), ("[]", "document"),
            (#"{"listen":"192.0.2.1:80"}"#, "listen"),
        ] {
            let (status, text) = try await send(bench, body)
            #expect(status == 400, "\(body)")
            #expect(text.contains(#""field":"\#(field)""#), "\(text)")
        }
        #expect(await bench.page.listener == nil)
        await bench.page.stop()
        let (status, text) = try await send(bench, "{}")
        #expect(status == 503)
        #expect(text.contains(#""code":"page-unavailable""#))
    }
}
