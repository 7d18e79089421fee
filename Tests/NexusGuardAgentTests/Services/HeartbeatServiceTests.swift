// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import FoundationEssentials
import NexusGuard
import Testing

@testable import NexusGuardAgent

@Suite("heartbeats")
struct HeartbeatServiceTests {
    static let now = Date(timeIntervalSince1970: 1_782_464_400)

    static func service(_ transport: ScriptedTransport) -> HeartbeatService {
        HeartbeatService(connection: ControlConnection(transport: transport, clock: { now }))
    }

    static func send(
        _ transport: ScriptedTransport, _ identity: HeartbeatService.Identity = DeviceSample.identity,
        _ change: (inout AgentConfig) -> Void = { _ in }
    ) async throws -> HeartbeatService.News {
        try await service(transport).sendHeartbeat(
            identity, status: .connected, tunnelUp: true, lastHandshake: now,
            try DeviceSample.settings("https://control.example.net:8443/base/", change))
    }

    static func failure(
        _ transport: ScriptedTransport, _ identity: HeartbeatService.Identity = DeviceSample.identity,
        _ change: (inout AgentConfig) -> Void = { _ in }
    ) async throws -> ServiceFailure? {
        do {
            _ = try await send(transport, identity, change)
            return nil
        } catch let failure as ServiceFailure {
            return failure
        }
    }

    @Test("the request is the one of the interface, and the server can tell who sent it")
    func request() async throws {
        let transport = ScriptedTransport(status: 200, DeviceSample.sealed(DeviceSample.document()))
        _ = try await Self.send(transport)
        let request = try #require(transport.requests.first)
        #expect(request.method == "POST")
        #expect(request.url == "https://control.example.net:8443/base/api/v1/heartbeat")
        #expect(
            request.text
                == #"{"device_id":"\#(DeviceSample.deviceID)","status":"connected","tunnel_up":true,"#
                + #""last_handshake":"2026-06-26T09:00:00Z"}"#)
        #expect(request.header("Content-Type") == "application/json")
        #expect(request.header("X-NexusGuard-Envelope") == "aes-256-gcm")
        let proof = try #require(RequestAuthorization(header: request.header("Authorization") ?? ""))
        #expect(proof.deviceID == DeviceSample.deviceID && proof.timestamp == 1_782_464_400)
        #expect(
            proof.isValid(
                method: "POST", path: "/api/v1/heartbeat", body: request.body ?? [], key: DeviceSample.key))
        _ = try await Self.send(transport)
        let second = RequestAuthorization(header: transport.requests.last?.header("Authorization") ?? "")
        #expect(second?.nonce != proof.nonce)
        #expect(transport.options.first?.socketMark == 0x4e47_0000)
        #expect(transport.options.first?.totalTimeout == .seconds(10))
        #expect(transport.options.first?.connectTimeout == .seconds(5))
        #expect(transport.options.first?.responseLimit == 65_536)
    }

    @Test("without a key, or where proofs are turned off, the request is the plain one of other servers")
    func plainRequest() async throws {
        let transport = ScriptedTransport(status: 200, DeviceSample.document())
        let bare = HeartbeatService.Identity(deviceID: DeviceSample.deviceID, key: nil)
        _ = try await Self.send(transport, bare)
        #expect(transport.requests.last?.header("Authorization") == nil)
        #expect(transport.requests.last?.header("X-NexusGuard-Envelope") == nil)
        _ = try await Self.send(transport) { $0.authenticatesHeartbeats = false }
        #expect(transport.requests.last?.header("Authorization") == nil)
    }

    @Test("a plain answer is taken unless encryption is required")
    func plainAnswer() async throws {
        let transport = ScriptedTransport(
            status: 200, DeviceSample.document(more: #", "next_interval": 45, "forwards_hash": "f1""#))
        let news = try await Self.send(transport)
        #expect(news.nextInterval == .seconds(45))
        #expect(news.config.forwardsHash == "f1")
        #expect(news.config.endpoint == (try Endpoint("192.0.2.1:51820")))
        let failure = try await Self.failure(transport) { $0.requiresEncryptedHeartbeats = true }
        #expect(failure?.error.code == "config-invalid" && failure?.isMalformed == true)
    }

    @Test("an answer for another device is refused, encrypted or not")
    func otherDevice() async throws {
        let document = DeviceSample.document(device: "another")
        for body in [document, DeviceSample.sealed(document)] {
            let failure = try await Self.failure(ScriptedTransport(status: 200, body))
            #expect(failure == ServiceFailure(.identityMismatch, isMalformed: true))
        }
    }

    @Test("answers that are malformed in any way are refused with their code")
    func malformed() async throws {
        let wrongKey = ProvisionResponse(
            encryptedConfig: CryptoManager.encrypt(DeviceSample.document(), key: DeviceSample.key)
        ).json()
        var cut = DeviceSample.document()
        cut.removeLast(40)
        let cases: [([UInt8], String)] = [
            (wrongKey, "decryption-failed"), (cut, "config-invalid"), ([], "config-invalid"),
            (Array("null".utf8), "config-invalid"), (Array("[1,2]".utf8), "config-invalid"),
            ([0xff, 0xfe, 0x00], "config-invalid"), (Array(repeating: 0x5b, count: 60_000), "config-invalid"),
            (DeviceSample.document(endpoint: "nowhere"), "config-invalid"),
            (Array(#"{"encrypted_config":"!!!"}"#.utf8), "config-invalid"),
        ]
        for (body, code) in cases {
            let failure = try await Self.failure(ScriptedTransport(status: 200, body))
            #expect(failure?.error.code == code)
            #expect(failure?.isMalformed == true)
            #expect(failure?.error.description.contains(DeviceSample.privateKey.prefix(8)) == false)
        }
    }

    @Test("only an answer under the device's key that names the device proves that it is revoked")
    func revocation() async throws {
        let statement = Array(#"{"device_id":"\#(DeviceSample.deviceID)","status":"revoked"}"#.utf8)
        let other = Array(#"{"device_id":"another","status":"revoked"}"#.utf8)
        let fine = Array(#"{"device_id":"\#(DeviceSample.deviceID)","status":"ok"}"#.utf8)
        for (body, isProven) in [
            (DeviceSample.sealed(statement), true), (statement, false), (DeviceSample.sealed(other), false),
            (DeviceSample.sealed(fine), false), ([], false),
            (
                ProvisionResponse(encryptedConfig: CryptoManager.encrypt(statement, key: DeviceSample.key))
                    .json(), false
            ),
        ] {
            for status in [404, 410] {
                let failure = try await Self.failure(ScriptedTransport(status: status, body))
                #expect(failure?.error == .revoked && failure?.isProven == isProven)
            }
        }
    }

    @Test("plain HTTP is for loopback, or where the settings allow it")
    func plainHTTP() throws {
        #expect(throws: AgentError.self) { try DeviceSample.settings("http://control.example.net") }
        #expect(throws: Never.self) { try DeviceSample.settings("http://127.0.0.1:8080") }
        #expect(throws: Never.self) {
            try DeviceSample.settings("http://control.example.net") { $0.allowsPlainHTTP = true }
        }
        #expect(throws: AgentError.notProvisioned) { try ControlSettings(AgentConfig()) }
    }

    @Test(
        "host and port of the server are those that its last good addresses are used for",
        arguments: [
            ("https://control.example.net", "control.example.net", UInt16(443), true),
            ("https://control.example.net:8443/x/", "control.example.net", 8443, true),
            ("http://localhost/", "localhost", 80, true),
            ("https://[2001:db8::1]:9", "2001:db8::1", 9, false),
            ("https://192.0.2.7", "192.0.2.7", 443, false),
        ])
    func host(url: String, host: String, port: UInt16, needsResolving: Bool) throws {
        var settings = try DeviceSample.settings(url)
        #expect(settings.host == host && settings.port == port && settings.needsResolving == needsResolving)
        settings.addresses = [try IPAddress("192.0.2.1"), try IPAddress("2001:db8::5")]
        let resolved = settings.options.resolved
        #expect(resolved.isEmpty == !needsResolving)
        if let first = resolved.first {
            #expect(first.host == host && first.port == port)
            #expect(first.addresses == ["192.0.2.1", "2001:db8::5"])
        }
    }

    @Test("forwards are asked for with their digest, and a server without them is not an error")
    func forwards() async throws {
        let list =
            #"{"forwards":[{"protocol":"tcp","public_port":8443,"target_ip":"10.172.21.2","target_port":443}]}"#
        let transport = ScriptedTransport(
            status: 200, Array(list.utf8), headers: [(name: "ETag", value: #"W/"f2""#)])
        let identity = HeartbeatService.Identity(deviceID: "a b/ü", key: DeviceSample.key)
        let forwards = try await Self.service(transport).fetchForwards(
            identity, known: "f1", try DeviceSample.settings())
        guard case .changed(let items, let hash) = forwards else {
            Issue.record("no forwards: \(forwards)")
            return
        }
        #expect(items.map(\.publicPort) == [8443] && hash == "f2")
        let request = try #require(transport.requests.first)
        #expect(request.method == "GET" && request.body == nil)
        #expect(request.url == "https://control.example.net/api/v1/forwards?device_id=a%20b%2F%C3%BC")
        #expect(request.header("If-None-Match") == #""f1""#)
        let proof = RequestAuthorization(header: request.header("Authorization") ?? "")
        #expect(
            proof?.isValid(method: "GET", path: "/api/v1/forwards", body: [], key: DeviceSample.key) == true)

        for (status, expected) in [(304, HeartbeatService.Forwards.unchanged), (404, .unavailable)] {
            let transport = ScriptedTransport(status: status, Array("{}".utf8))
            let answer = try await Self.service(transport).fetchForwards(
                identity, known: "f1", try DeviceSample.settings())
            #expect(answer == expected)
        }
    }

    @Test(
        "giving the identity back succeeds when the server does not have it any more",
        arguments: [204, 200, 404, 410])
    func deprovision(status: Int) async throws {
        let transport = ScriptedTransport(status: status, Array("{}".utf8))
        try await Self.service(transport).deprovision(DeviceSample.identity, try DeviceSample.settings())
        #expect(transport.requests.first?.url == "https://control.example.net/api/v1/deprovision")
        #expect(transport.requests.first?.text == #"{"device_id":"\#(DeviceSample.deviceID)"}"#)
        #expect(transport.requests.first?.header("Authorization") != nil)
    }

    @Test("giving the identity back fails when the server could not take note", arguments: [401, 500, 503])
    func deprovisionFails(status: Int) async throws {
        let transport = ScriptedTransport(status: status, Array("{}".utf8))
        await #expect(throws: ServiceFailure.self) {
            try await Self.service(transport).deprovision(DeviceSample.identity, try DeviceSample.settings())
        }
    }
}
