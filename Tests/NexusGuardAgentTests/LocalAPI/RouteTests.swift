// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import AgentStore
import NexusGuard
import Testing

@testable internal import NexusGuardAgent

@Suite("requests to the local API")
struct RouteTests {
    private let agent: FakeAgent
    private let api: LocalAPI

    init() throws {
        agent = try FakeAgent()
        api = LocalAPI(control: agent, log: LogStore(), options: LocalAPI.Options())
    }

    private func send(
        _ method: String, _ path: String, _ body: String = "", host: String? = "localhost",
        type: String? = "application/json", headers: [(name: String, value: String)] = [], user: UInt32 = 0
    ) async -> (status: Int, headers: [(name: String, value: String)], text: String) {
        var fields = headers
        if let host { fields.append(("Host", host)) }
        if let type { fields.append(("Content-Type", type)) }
        let request = ServerRequest(
            method: method, path: path, headers: fields, body: Array(body.utf8),
            peer: .unix(uid: user, gid: user, pid: 1, groups: [user]))
        guard case .response(let response) = await api.reply(to: request) else { return (0, [], "") }
        return (response.status, response.headers, String(decoding: response.body, as: UTF8.self))
    }

    private static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"]

    /// What each path takes, by the interface's description.
    private static let table: [(path: String, methods: [String])] = [
        ("/api/v1/status", ["GET"]), ("/api/v1/logs", ["GET", "DELETE"]), ("/api/v1/tunnel", ["POST"]),
        ("/api/v1/provision", ["POST"]), ("/api/v1/deprovision", ["POST"]), ("/api/v1/refresh", ["POST"]),
        ("/api/v1/settings", ["GET", "PUT"]), ("/api/v1/forwards", ["GET"]),
        ("/api/v1/config", ["GET", "PUT"]), ("/api/v1/config/preview", ["POST"]),
        ("/api/v1/config/export", ["POST"]), ("/api/v1/netcheck", ["GET"]), ("/api/v1/bugreport", ["POST"]),
        ("/api/v1/hwid", ["GET"]), ("/api/v1/reset", ["POST"]), ("/api/v1/events", ["GET"]),
        ("/metrics", ["GET"]), ("/healthz", ["GET"]),
    ]

    @Test("each path takes its methods and refuses the others with 405 and Allow", arguments: table)
    func methods(path: String, allowed: [String]) async {
        let withHead = Set(allowed + (allowed.contains("GET") ? ["HEAD"] : []))
        for method in Self.methods where !withHead.contains(method) {
            let answer = await send(method, path)
            #expect(answer.status == 405, "\(method) \(path)")
            let header = answer.headers.first { $0.name == "Allow" }?.value ?? ""
            #expect(Set(header.split(separator: ", ").map(String.init)) == withHead, "\(method) \(path)")
            #expect(answer.text.contains(#""code":"method-not-allowed""#))
        }
        #expect(await agent.calls.isEmpty)
    }

    @Test(
        "what is not there is 404 for every method",
        arguments: [
            "/", "/api", "/api/v1", "/api/v1/status/", "/api/v1/Status", "/api/v2/status", "/metrics/x", "*",
        ])
    func unknown(path: String) async {
        for method in Self.methods {
            let answer = await send(method, path)
            #expect(answer.status == 404)
            #expect(
                answer.text
                    == #"{"schema":1,"error":{"code":"not-found","message":"there is nothing at this path"}}"#
                    + "\n")
        }
    }

    @Test("only the agent's own names are answered, others get 421")
    func hosts() async {
        for host in ["localhost", "LOCALHOST", "nexusguard"] {
            #expect(await send("GET", "/healthz", host: host).status == 204)
        }
        for host in [nil, "", "localhost:80", "127.0.0.1", "evil.example", "localhost.evil.example"]
            as [String?]
        {
            for (method, path) in [("GET", "/healthz"), ("POST", "/api/v1/tunnel"), ("GET", "/nothing")] {
                #expect(await send(method, path, host: host).status == 421, "\(host ?? "none")")
            }
        }
        let two = await send("GET", "/healthz", headers: [("Host", "localhost")])
        #expect(two.status == 421)
        #expect(await agent.calls.isEmpty)
    }

    @Test("a change must say that it is JSON, else 415, and must not come from a page, else 403")
    func contentTypes() async {
        let body = #"{"up":true}"#
        for type in ["application/json", "Application/JSON", "application/json; charset=utf-8"] {
            #expect(await send("POST", "/api/v1/tunnel", body, type: type).status == 200)
        }
        #expect(await agent.calls == ["up", "up", "up"])
        let bad =
            [
                nil, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                "application/jsonp", "text/json",
            ] as [String?]
        for type in bad {
            for (method, path) in [
                ("POST", "/api/v1/tunnel"), ("PUT", "/api/v1/settings"), ("POST", "/api/v1/reset"),
                ("POST", "/api/v1/refresh"),
            ] {
                #expect(await send(method, path, body, type: type).status == 415, "\(type ?? "none")")
            }
        }
        let page = await send("POST", "/api/v1/tunnel", body, headers: [("Origin", "http://localhost")])
        #expect(page.status == 403)
        #expect(await agent.calls.count == 3)
        #expect(await send("GET", "/api/v1/status", "{}").status == 400)
    }

    @Test("the tunnel is taken up and down and restarted")
    func tunnel() async {
        let up = await send("POST", "/api/v1/tunnel", #"{"up":true}"#)
        #expect(up.text.contains(#""wantsUp":true"#))
        #expect(up.text.hasPrefix(#"{"#) && up.text.contains(#""schema":1"#))
        _ = await send("POST", "/api/v1/tunnel", #"{"up":false}"#)
        _ = await send("POST", "/api/v1/tunnel", #"{"restart":true}"#)
        #expect(await agent.calls == ["up", "down", "restart"])
    }

    @Test(
        "a malformed change is refused with the field named, and nothing is done",
        arguments: [
            (#"{}"#, "up"), ("", "up"), (#"{"up":1}"#, "up"), (#"{"up":"true"}"#, "up"),
            (#"{"up":null}"#, "up"),
            (#"[]"#, "document"), (#"{"up":true"#, "JSON"), ("up", "JSON"),
            (#"{"up":true,"up":false}"#, "up"),
            (#"{"restart":true,"up":false}"#, "restart"), (#"{"restart":"yes"}"#, "restart"),
        ])
    func malformed(body: String, field: String) async {
        let answer = await send("POST", "/api/v1/tunnel", body)
        #expect(answer.status == 400)
        #expect(answer.text.contains(#""field":"\#(field)""#), "\(answer.text)")
        #expect(await agent.calls.isEmpty)
    }

    @Test("a token reaches the agent and no answer, and without one the stored one is taken")
    func tokens() async {
        let answer = await send("POST", "/api/v1/provision", #"{"token":"sEcReT-token"}"#)
        #expect(answer.status == 200)
        #expect(!answer.text.contains("sEcReT"))
        #expect(await send("POST", "/api/v1/provision", "{}").status == 200)
        #expect(await send("POST", "/api/v1/provision").status == 200)
        #expect(await agent.calls == ["provision sEcReT-token", "provision (stored)", "provision (stored)"])
        for body in [#"{"token":""}"#, #"{"token":7}"#, #"{"token":"sEcReT\n"}"#, #"{"token":["sEcReT"]}"#] {
            let refused = await send("POST", "/api/v1/provision", body)
            #expect(refused.status == 400)
            #expect(refused.text.contains(#""field":"token""#))
            #expect(!refused.text.contains("sEcReT"))
        }
    }

    @Test(
        "each error of the agent has a status and its stable code",
        arguments: [
            (AgentError.notProvisioned, 409), (.unauthorized, 502), (.revoked, 502),
            (.serverRejected(500), 502),
            (.rateLimited(retryAfter: .seconds(120)), 503), (.networkOffline, 503), (.handshakeTimedOut, 504),
            (.secretStore(28), 500), (.tunnelInitFailed("no device"), 500), (.captivePortal, 502),
            (.configInvalid(field: "serverURL", reason: "is no URL"), 400),
        ])
    func errors(error: AgentError, status: Int) async {
        await agent.fail(error)
        for path in ["refresh", "deprovision", "reset"] {
            let answer = await send("POST", "/api/v1/\(path)", "{}")
            #expect(answer.status == status)
            #expect(answer.text.contains(#""code":"\#(error.code)""#))
            if case .configInvalid(let field, _) = error {
                #expect(answer.text.contains(#""field":"\#(field)""#))
            }
            if case .rateLimited = error {
                #expect(answer.headers.contains { $0.name == "Retry-After" && $0.value == "120" })
            }
        }
    }

    @Test("the full hardware identifier is given to operators on its own path alone")
    func hwid() async {
        let answer = await send("GET", "/api/v1/hwid")
        #expect(answer.text == #"{"schema":1,"hwid":"\#(FakeAgent.hardware)"}"# + "\n")
        for path in ["/api/v1/status", "/api/v1/settings", "/api/v1/config", "/metrics"] {
            #expect(!(await send("GET", path)).text.contains(FakeAgent.hardware))
        }
    }

    @Test("no answer holds a key or a whole device identifier")
    func secrets() async throws {
        let privateKey = try KeyForms(FakeAgent.privateKey)
        let presharedKey = try KeyForms(FakeAgent.presharedKey)
        for (method, path) in [
            ("GET", "/api/v1/status"), ("GET", "/api/v1/settings"), ("GET", "/api/v1/config"),
            ("GET", "/metrics"),
            ("GET", "/api/v1/logs"), ("GET", "/api/v1/netcheck"), ("POST", "/api/v1/bugreport"),
        ] {
            let answer = await send(method, path)
            #expect(answer.status == 200, "\(path)")
            for secret in privateKey.all + presharedKey.all + [FakeAgent.deviceID] {
                #expect(!answer.text.contains(secret), "\(path)")
            }
        }
    }
}

/// The texts in which a key could show up.
struct KeyForms {
    /// Hexadecimal in both cases, and base64.
    let all: [String]

    init(_ hexadecimal: String) throws {
        all = [hexadecimal, hexadecimal.uppercased(), try PrivateKey(hexadecimal: hexadecimal).base64]
    }
}
