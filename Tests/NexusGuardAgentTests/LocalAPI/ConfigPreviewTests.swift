// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import AgentStore
import NexusGuard
import Testing

@testable internal import NexusGuardAgent

@Suite("configurations over the local API")
struct ConfigPreviewTests {
    private let file = """
        [Interface]
        PrivateKey = ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8=
        Address = 10.172.21.2/32, fd00::2/128
        DNS = 1.1.1.1
        MTU = 1400
        PostUp = touch /tmp/never

        [Peer]
        PublicKey = HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=
        AllowedIPs = 0.0.0.0/0, ::/0
        Endpoint = vpn.example.net:51820
        PersistentKeepalive = 15
        """

    private func send(
        _ method: String, _ path: String, _ body: String, to agent: FakeAgent
    ) async throws -> (status: Int, text: String) {
        let api = LocalAPI(control: agent, log: LogStore(), options: LocalAPI.Options())
        let request = ServerRequest(
            method: method, path: path,
            headers: [("Host", "localhost"), ("Content-Type", "application/json")], body: Array(body.utf8),
            peer: .unix(uid: 0, gid: 0, pid: 1, groups: []))
        guard case .response(let response) = await api.reply(to: request) else {
            throw APIError.notFound
        }
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }

    /// The content of an import, as JSON.
    private func content(_ text: String, passphrase: String? = nil) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("content", text)
        if let passphrase { writer.member("passphrase", passphrase) }
        writer.endObject()
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    @Test("a preview names each difference, shows no key, and changes nothing")
    func preview() async throws {
        let agent = try FakeAgent()
        let answer = try await send("POST", "/api/v1/config/preview", content(file), to: agent)
        #expect(answer.status == 200)
        #expect(answer.text.hasPrefix(#"{"schema":1,"applied":false,"depth":"host","changes":[{"#))
        for field in ["addresses", "endpoint", "allowedIPs", "mtu", "keepalive", "presharedKey"] {
            #expect(answer.text.contains(#"{"field":"\#(field)","#), "\(field)")
        }
        for field in ["device", "publicKey", "serverPublicKey", "nameServers"] {
            #expect(!answer.text.contains(#"{"field":"\#(field)","#), "\(field)")
        }
        #expect(answer.text.contains(#"{"field":"presharedKey","from":"(set)"}"#))
        #expect(answer.text.contains(#"{"field":"keepalive","from":"25 s","to":"15 s"}"#))
        #expect(answer.text.contains("PostUp"))
        for secret in try KeyForms(FakeAgent.privateKey).all + KeyForms(FakeAgent.presharedKey).all {
            #expect(!answer.text.contains(secret))
        }
        #expect(await agent.calls.isEmpty)
    }

    @Test("an import is applied, keeps the device's name, and does nothing when nothing differs")
    func apply() async throws {
        let agent = try FakeAgent()
        let first = try await send("PUT", "/api/v1/config", content(file), to: agent)
        #expect(first.status == 200)
        #expect(first.text.contains(#""applied":true"#))
        #expect(await agent.calls == ["rebuild"])
        let config = try #require(await agent.wireGuardConfig)
        #expect(config.deviceID == FakeAgent.deviceID)
        #expect(config.mtu == 1400)
        #expect(config.addresses.map(\.description) == ["10.172.21.2/32", "fd00::2/128"])
        let second = try await send("PUT", "/api/v1/config", content(file), to: agent)
        #expect(second.text.contains(#""depth":"none","changes":[]"#))
        #expect(await agent.calls == ["rebuild"])
    }

    @Test("without an identity the whole import is new")
    func new() async throws {
        let agent = try FakeAgent(isProvisioned: false)
        let answer = try await send("PUT", "/api/v1/config", content(file), to: agent)
        #expect(answer.text.contains(#""depth":"identity""#))
        #expect(answer.text.contains(#"{"field":"endpoint","to":"vpn.example.net:51820"}"#))
        #expect(await agent.wireGuardConfig?.deviceID == ConfigPreview.deviceWithoutName)
    }

    @Test("an export under a passphrase comes back as it was, and tells when it needs the passphrase")
    func export() async throws {
        let agent = try FakeAgent()
        let sealed = try await send(
            "POST", "/api/v1/config/export", #"{"passphrase":"correct horse"}"#, to: agent)
        #expect(sealed.status == 200)
        #expect(sealed.text.hasPrefix(#"{"schema":1,"#))
        for secret in try KeyForms(FakeAgent.privateKey).all + [FakeAgent.deviceID, "correct horse"] {
            #expect(!sealed.text.contains(secret))
        }
        let other = try FakeAgent(isProvisioned: false)
        for passphrase in [nil, "correct horsf"] as [String?] {
            let refused = try await send(
                "PUT", "/api/v1/config", content(sealed.text, passphrase: passphrase), to: other)
            #expect(refused.status == 400)
            #expect(refused.text.contains(#""field":"passphrase""#))
        }
        #expect(await other.calls.isEmpty)
        let taken = try await send(
            "PUT", "/api/v1/config", content(sealed.text, passphrase: "correct horse"), to: other)
        #expect(taken.status == 200)
        let config = try #require(await other.wireGuardConfig)
        #expect(try config.difference(from: FakeAgent.config()) == ConfigDifference.none)
    }

    @Test("what is shown of the configuration has no key, and without one there is nothing to show")
    func show() async throws {
        let answer = try await send("GET", "/api/v1/config", "", to: FakeAgent())
        #expect(answer.text.hasPrefix(#"{"schema":1,"redacted":true,"device_id":"devi…""#))
        #expect(answer.text.contains(#""endpoint":"127.0.0.1:51820""#))
        let none = try await send("GET", "/api/v1/config", "", to: FakeAgent(isProvisioned: false))
        #expect(none.status == 409)
        #expect(none.text.contains(#""code":"not-provisioned""#))
        let export = try await send(
            "POST", "/api/v1/config/export", #"{"passphrase":"correct horse"}"#,
            to: FakeAgent(isProvisioned: false))
        #expect(export.status == 409)
    }

    @Test(
        "what cannot be imported is refused with its field, and no key comes back",
        arguments: [
            (#"{}"#, "content"), (#"{"content":7}"#, "content"), (#"{"content":""}"#, "document"),
            (#"{"content":"{"}"#, "JSON"), (#"{"content":"{}"}"#, "private_key"),
            (#"{"content":"[Interface]\nPrivateKey = sEcReT"}"#, "line 2: PrivateKey"),
            (#"{"content":"[Interface]\n"}"#, "line 1: [Interface]"),
            (#"{"content":"x","passphrase":[]}"#, "passphrase"),
        ])
    func refused(body: String, field: String) async throws {
        let agent = try FakeAgent()
        for (method, path) in [("PUT", "/api/v1/config"), ("POST", "/api/v1/config/preview")] {
            let answer = try await send(method, path, body, to: agent)
            #expect(answer.status == 400)
            #expect(answer.text.contains(#""field":"\#(field)""#), "\(answer.text)")
            #expect(!answer.text.contains("sEcReT"))
        }
        #expect(await agent.calls.isEmpty)
    }
}
