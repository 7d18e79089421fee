// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Foundation
import NexusGuard
import Testing

@testable import NexusGuardAgent

@Suite("asking for an identity")
struct ProvisioningServiceTests {
    static func provision(
        _ transport: ScriptedTransport, expecting device: String? = nil, token: String = DeviceSample.token,
        hwid: String = DeviceSample.hwid
    ) async throws(ServiceFailure) -> ProvisioningService.Identity {
        let settings: ControlSettings
        do {
            settings = try DeviceSample.settings()
        } catch {
            throw ServiceFailure(.notProvisioned)
        }
        return try await ProvisioningService(connection: ControlConnection(transport: transport)).provision(
            token: token, hwid: hwid, expecting: device, settings)
    }

    static func failure(_ transport: ScriptedTransport, expecting device: String? = nil) async
        -> ServiceFailure?
    {
        do throws(ServiceFailure) {
            _ = try await provision(transport, expecting: device)
            return nil
        } catch {
            return error
        }
    }

    @Test("the request holds token and hwid, and the identity comes out of the envelope")
    func provision() async throws {
        let transport = ScriptedTransport(status: 200, DeviceSample.provisioned())
        let identity = try await Self.provision(transport)
        let request = try #require(transport.requests.first)
        #expect(request.url == "https://control.example.net/api/v1/provision")
        #expect(request.text == #"{"token":"\#(DeviceSample.token)","hwid":"\#(DeviceSample.hwid)"}"#)
        #expect(request.header("Authorization") == nil)
        #expect(identity.config.deviceID == DeviceSample.deviceID)
        #expect(identity.config.privateKey.isEqual(to: try PrivateKey(hexadecimal: DeviceSample.privateKey)))
        #expect(identity.key.isEqual(to: DeviceSample.key))
    }

    @Test("every envelope of the shared vectors gives its identity or is refused")
    func vectors() async throws {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/vectors/config_envelope.json")
        let vectors = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: [[String: Any]]])
        var taken = 0
        for vector in vectors["valid"] ?? [] {
            guard let token = vector["token"] as? String, let hwid = vector["hwid"] as? String,
                let blob = vector["blob"] as? String, !token.isEmpty, !hwid.isEmpty,
                let config = vector["config"] as? [String: Any], !hwid.contains("\n")
            else { continue }
            let transport = ScriptedTransport(status: 200, Array(#"{"encrypted_config":"\#(blob)"}"#.utf8))
            let identity = try await Self.provision(transport, token: token, hwid: hwid)
            #expect(identity.config.deviceID == config["device_id"] as? String)
            taken += 1
        }
        #expect(taken >= 5)
        var refused = 0
        for vector in vectors["invalid"] ?? [] {
            guard let token = vector["token"] as? String, let hwid = vector["hwid"] as? String,
                let blob = vector["blob"] as? String, !token.isEmpty, !hwid.isEmpty
            else { continue }
            let json = try JSONSerialization.data(withJSONObject: ["encrypted_config": blob])
            let transport = ScriptedTransport(status: 200, [UInt8](json))
            do throws(ServiceFailure) {
                _ = try await Self.provision(transport, token: token, hwid: hwid)
                Issue.record("\(vector["name"] ?? "") is taken")
            } catch {
                #expect(error.isMalformed)
                refused += 1
            }
        }
        #expect(refused >= 20)
    }

    @Test("another device than the stored one is refused when the stored one is asked for again")
    func otherDevice() async {
        let transport = ScriptedTransport(status: 200, DeviceSample.provisioned())
        let failure = await Self.failure(transport, expecting: "the-stored-one")
        #expect(failure == ServiceFailure(.identityMismatch, isMalformed: true))
        let same = await Self.failure(transport, expecting: DeviceSample.deviceID)
        #expect(same == nil)
    }

    @Test(
        "what the server says instead of an identity has its meaning",
        arguments: [
            (401, AgentError.unauthorized), (403, .unauthorized), (409, .serverRejected(409)),
            (400, .serverRejected(400)), (404, .serverRejected(404)), (429, .rateLimited(retryAfter: nil)),
            (500, .serverRejected(500)), (204, .serverRejected(204)),
        ])
    func refused(status: Int, error: AgentError) async {
        let failure = await Self.failure(ScriptedTransport(status: status, Array("{}".utf8)))
        #expect(failure?.error == error)
    }

    @Test("a connection that breaks is a matter of provisioning, and its text holds no token")
    func broken() async {
        for error in [HTTPError.timedOut, .truncated, .connect("refused"), .other("no HTTP")] {
            let failure = await Self.failure(ScriptedTransport(error))
            #expect(failure?.error.code == "provisioning-failed")
            #expect(failure?.error.description.contains(DeviceSample.token) == false)
        }
    }

    @Test("a token or hwid that no server can have given is refused before it is sent")
    func malformedToken() async {
        let transport = ScriptedTransport()
        await #expect(throws: ServiceFailure.self) { try await Self.provision(transport, token: "") }
        #expect(transport.requests.isEmpty)
    }
}
