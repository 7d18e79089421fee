// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Foundation
import NexusGuard
import NexusGuardControl
import Synchronization
import Testing

/// A service over a real store, without sockets, with a clock that a test moves.
final class Bench: Sendable {
    let directory: TemporaryDirectory
    let store: SQLiteStore
    let clock = TestClock()
    let log = TestLog()
    let service: ControlService
    let serverKey = PrivateKey()
    /// The contents of all answers so far.
    private let answers = Mutex<[String]>([])

    init(
        pools: [String] = ["10.172.21.0/24"], faults: [String] = [], faultFile: String? = nil,
        _ change: (inout ControlSettings) -> Void = { _ in }
    ) throws {
        directory = try TemporaryDirectory()
        store = try SQLiteStore(directory: directory.path, createsFile: true)
        var settings = ControlSettings(
            pools: try pools.map { try Samples.pool($0) }, serverPublicKey: serverKey.publicKey,
            endpoint: try Endpoint("vpn.example.net:51820"))
        settings.provisionLimit = 1000
        // Tests that look at plain answers are many; those of the default set it.
        settings.requiresEnvelope = false
        change(&settings)
        let plan = FaultPlan(
            try faults.map { try Fault($0) }, file: faultFile.map { [directory] in directory.file($0) },
            onError: { [log] in log.add(level: .error, tag: "faults", message: $0) })
        let counter = Counter()
        self.counter = counter
        service = ControlService(
            store: store, settings: settings, faults: plan, clock: clock.clock, log: log,
            peersChanged: { counter.increase() })
    }

    private let counter: Counter

    /// How often the service said that devices changed.
    var changeCount: Int { counter.value }

    /// Everything that left the service: answers and lines of the log.
    var everything: [String] { answers.withLock { $0 } + log.lines }

    /// Adds a token and gives its text.
    func token(expiresAt: Date? = nil) async throws -> String {
        let text = RegistrationToken.make()
        let record = TokenRecord(
            id: RegistrationToken.identifier(of: text), digest: RegistrationToken.digest(of: text),
            createdAt: clock.now, expiresAt: expiresAt)
        try #require(await store.addToken(record))
        return text
    }

    /// Sends a request.
    func send(
        _ method: String, _ path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], body: String = "", from address: String = "192.0.2.1"
    ) async -> ServerReply {
        let reply = await service.reply(
            to: ServerRequest(
                method: method, path: path, query: query, headers: headers, body: Array(body.utf8),
                peer: .network(address: address, port: 40000), isTLS: true))
        if case .response(let response) = reply {
            answers.withLock { $0.append(String(decoding: response.body, as: UTF8.self)) }
        }
        return reply
    }

    /// Asks for an identity.
    func provision(
        token: String, hwid: String = "hwid-1", from address: String = "192.0.2.1"
    ) async throws -> ServerResponse {
        let body = try ProvisionRequest(token: token, hwid: hwid).json()
        return try await send(
            "POST", "/api/v1/provision", body: String(decoding: body, as: UTF8.self), from: address
        ).response
    }

    /// Asks for an identity that must be granted.
    func device(hwid: String = "hwid-1") async throws -> TestDevice {
        let token = try await token()
        let response = try await provision(token: token, hwid: hwid)
        try #require(response.status == 200)
        let key = CryptoManager.deriveKey(token: token, hwid: hwid)
        return TestDevice(token: token, hwid: hwid, key: key, config: try response.provisioned(key))
    }

    /// Sends a request of a device with a proof.
    func send(
        _ method: String, _ path: String, as device: TestDevice,
        query: [(name: String, value: String)] = [], headers: [(name: String, value: String)] = [],
        body: String = "", nonce: [UInt8]? = nil, at time: Date? = nil
    ) async -> ServerReply {
        let second = Int64((time ?? clock.now).timeIntervalSince1970)
        let proof = CryptoManager.requestAuthorization(
            method: method, path: path, timestamp: second, nonce: nonce, body: Array(body.utf8),
            deviceID: device.id, key: device.key)
        return await send(
            method, path, query: query, headers: headers + [(name: "Authorization", value: proof)], body: body
        )
    }

    /// Sends a heartbeat of a device with a proof.
    func heartbeat(
        _ device: TestDevice, isUp: Bool = true, lastHandshake: Date? = nil,
        headers: [(name: String, value: String)] = [], nonce: [UInt8]? = nil, at time: Date? = nil
    ) async -> ServerReply {
        await send(
            "POST", "/api/v1/heartbeat", as: device, headers: headers,
            body: device.news(isUp: isUp, lastHandshake: lastHandshake), nonce: nonce, at: time)
    }

    /// Asks for the forwards of a device with a proof.
    func forwards(
        _ device: TestDevice, headers: [(name: String, value: String)] = []
    ) async throws -> ServerResponse {
        try await send(
            "GET", "/api/v1/forwards", as: device, query: [(name: "device_id", value: device.id)],
            headers: headers
        ).response
    }

    /// Gives the identity of a device back, with a proof.
    func deprovision(_ device: TestDevice) async throws -> ServerResponse {
        try await send(
            "POST", "/api/v1/deprovision", as: device, body: #"{"device_id":"\#(device.id)"}"#
        ).response
    }
}

/// A number that any thread increases.
final class Counter: Sendable {
    private let number = Mutex(0)
    var value: Int { number.withLock { $0 } }
    func increase() { number.withLock { $0 += 1 } }
}

/// A device as its agent sees it.
struct TestDevice: Sendable {
    let token: String
    let hwid: String
    let key: ProvisioningKey
    let config: WireGuardConfig
    var id: String { config.deviceID }

    /// The content of a heartbeat.
    func news(isUp: Bool = true, lastHandshake: Date? = nil) -> String {
        let news = HeartbeatRequest(
            deviceID: id, status: isUp ? "connected" : "disconnected", tunnelUp: isUp,
            lastHandshake: lastHandshake)
        return String(decoding: news.json(), as: UTF8.self)
    }
}

/// A reply that is no whole answer.
struct NoResponse: Error {}

extension ServerReply {
    /// The answer.
    var response: ServerResponse {
        get throws {
            guard case .response(let response) = self else { throw NoResponse() }
            return response
        }
    }
}

extension ServerResponse {
    /// A header field.
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The content as a JSON object.
    var object: [String: Any] {
        get throws {
            try #require(JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        }
    }

    /// The code of a refusal.
    var errorCode: String? {
        ((try? object)?["error"] as? [String: Any])?["code"] as? String
    }

    /// The configuration in an answer to a request for an identity.
    func provisioned(_ key: ProvisioningKey) throws -> WireGuardConfig {
        let envelope = try ProvisionResponse(parsing: body)
        let plaintext = try CryptoManager.decrypt(encoded: envelope.encryptedConfig, key: key)
        return try WireGuardConfigCodec.parse(plaintext, requiresStatus: false)
    }
}
