// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

/// Speaks to a running server as an agent does.
struct WireClient: Sendable {
    let url: String
    var options = HTTPClientOptions()
    private let client = HTTPClient()

    init(_ url: String, authority: String? = nil) {
        self.url = url
        options.certificateAuthorityFile = authority
        // So long that only what a test is about ends a request.
        options.connectTimeout = .seconds(600)
        options.totalTimeout = .seconds(600)
    }

    /// Sends a request.
    func send(
        _ method: String, _ path: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) async throws -> HTTPResponse {
        let fields = headers + (body == nil ? [] : [(name: "Content-Type", value: "application/json")])
        let request = HTTPRequest(method: method, url: url + path, headers: fields, body: body)
        return try await client.send(request, options: options)
    }

    /// Asks for an identity.
    func provision(token: String, hwid: String = "hwid-1") async throws -> HTTPResponse {
        let body = try ProvisionRequest(token: token, hwid: hwid).json()
        return try await send("POST", "/api/v1/provision", body: body)
    }

    /// Asks for an identity that must be granted.
    func device(token: String, hwid: String = "hwid-1") async throws -> TestDevice {
        let response = try await provision(token: token, hwid: hwid)
        try #require(response.status == 200)
        let key = CryptoManager.deriveKey(token: token, hwid: hwid)
        let envelope = try ProvisionResponse(parsing: response.body)
        let plaintext = try CryptoManager.decrypt(encoded: envelope.encryptedConfig, key: key)
        let config = try WireGuardConfigCodec.parse(plaintext, requiresStatus: false)
        return TestDevice(token: token, hwid: hwid, key: key, config: config)
    }

    /// Sends a request of a device with a proof.
    func send(
        _ method: String, _ path: String, query: String = "", as device: TestDevice,
        headers: [(name: String, value: String)] = [], body: [UInt8]? = nil, nonce: [UInt8]? = nil
    ) async throws -> HTTPResponse {
        let proof = CryptoManager.requestAuthorization(
            method: method, path: path, timestamp: Int64(Date().timeIntervalSince1970), nonce: nonce,
            body: body ?? [], deviceID: device.id, key: device.key)
        return try await send(
            method, path + query, headers: headers + [(name: "Authorization", value: proof)], body: body)
    }

    /// Sends a heartbeat.
    func heartbeat(
        _ device: TestDevice, lastHandshake: Date? = nil, nonce: [UInt8]? = nil
    ) async throws -> HTTPResponse {
        try await send(
            "POST", "/api/v1/heartbeat", as: device,
            headers: [(name: "X-NexusGuard-Envelope", value: "aes-256-gcm")],
            body: Array(device.news(lastHandshake: lastHandshake).utf8), nonce: nonce)
    }

    /// The configuration in the answer to a heartbeat.
    func config(_ device: TestDevice) async throws -> WireGuardConfig {
        let response = try await heartbeat(device)
        try #require(response.status == 200)
        return try HeartbeatResponse(
            parsing: response.body, key: device.key, requiresEncryption: true
        ).config
    }
}
