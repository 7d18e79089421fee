// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Provision")
struct ProvisionTests {
    @Test("a fresh token gives a configuration that only the token and the hardware identifier open")
    func identity() async throws {
        let bench = try Bench(pools: ["10.172.21.0/24", "fd00:21::/64"]) { settings in
            settings.nameServers = [IPAddress(ipv4: 0x0101_0101)]
            settings.mtu = 1380
            settings.keepalive = 17
            settings.adminURL = "https://admin.example.net/"
        }
        let token = try await bench.token()
        let response = try await bench.provision(token: token)
        #expect(response.status == 200)
        #expect(response.header("Content-Type") == "application/json")
        #expect(response.header("Cache-Control") == "no-store")
        #expect(try Set(response.object.keys) == ["encrypted_config"])

        // The key as the interface defines it, not by way of the code under test.
        let key = try ProvisioningKey(rawRepresentation: CryptoManager.sha256(Array((token + "hwid-1").utf8)))
        let config = try response.provisioned(key)
        #expect(UUID(uuidString: config.deviceID) != nil)
        #expect(config.addresses.map(\.description) == ["10.172.21.2/32", "fd00:21::2/128"])
        #expect(config.serverPublicKey == bench.serverKey.publicKey)
        #expect(config.endpoint.description == "vpn.example.net:51820")
        #expect(config.allowedIPs.map(\.description) == ["10.172.21.0/24", "fd00:21::/64"])
        #expect(config.nameServers.map(\.description) == ["1.1.1.1"])
        #expect(config.serverAddress?.description == "10.172.21.1")
        #expect(config.mtu == 1380)
        #expect(config.keepalive == 17)
        #expect(config.adminURL == "https://admin.example.net/")
        #expect(config.presharedKey != nil)
        #expect(config.forwardsHash?.isEmpty == false)
        #expect(bench.changeCount == 1)

        let wrong = CryptoManager.deriveKey(token: token, hwid: "hwid-2")
        #expect(throws: AgentError.cryptoDecryptionFailed) { try response.provisioned(wrong) }
    }

    @Test("asked again after a cut answer, the server gives the same identity under another nonce")
    func idempotence() async throws {
        let bench = try Bench()
        let token = try await bench.token()
        let key = CryptoManager.deriveKey(token: token, hwid: "hwid-1")
        let first = try await bench.provision(token: token)
        bench.clock.advance(3600)
        let second = try await bench.provision(token: token)
        #expect(first.body != second.body)
        let before = try first.provisioned(key)
        let after = try second.provisioned(key)
        #expect(after.difference(from: before) == .none)
        #expect(after.deviceID == before.deviceID)
        #expect(try await bench.store.devices().count == 1)
    }

    @Test("a hundred requests at once with one token end in one identity")
    func concurrency() async throws {
        let bench = try Bench()
        let token = try await bench.token()
        let key = CryptoManager.deriveKey(token: token, hwid: "hwid-1")
        let configs = try await withThrowingTaskGroup(of: WireGuardConfig.self) { group in
            for _ in 0..<100 {
                group.addTask { try await bench.provision(token: token).provisioned(key) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(configs.map(\.deviceID)).count == 1)
        #expect(Set(configs.map(\.tunnelDigest)).count == 1)
        #expect(try await bench.store.devices().count == 1)
    }

    @Test("a token of another hardware identifier is a conflict")
    func conflict() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let response = try await bench.provision(token: device.token, hwid: "hwid-2")
        #expect(response.status == 409)
        #expect(response.errorCode == "token-bound")
    }

    @Test("unknown, expired and taken back tokens are refused alike")
    func badTokens() async throws {
        let bench = try Bench()
        let expired = try await bench.token(expiresAt: bench.clock.now.addingTimeInterval(60))
        let revoked = try await bench.token()
        #expect(
            try await bench.store.revokeToken(
                RegistrationToken.identifier(of: revoked), at: bench.clock.now))
        bench.clock.advance(60)
        var bodies: Set<[UInt8]> = []
        for token in [RegistrationToken.make(), expired, revoked, "x", String(repeating: "y", count: 1024)] {
            let response = try await bench.provision(token: token)
            #expect(response.status == 401)
            #expect(response.errorCode == "bad-token")
            #expect(response.header("WWW-Authenticate") == "NexusGuard-HMAC v=1")
            bodies.insert(response.body)
        }
        #expect(bodies.count == 1)
        #expect(try await bench.store.devices().isEmpty)
    }

    @Test(
        "a request that makes no sense is refused with the field named",
        arguments: [
            ("", "JSON"), ("{", "JSON"), ("[]", "document"), (#"{"hwid":"h"}"#, "token"),
            (#"{"token":"t"}"#, "hwid"), (#"{"token":1,"hwid":"h"}"#, "token"),
            (#"{"token":"t","hwid":["h"]}"#, "hwid"), (#"{"token":"","hwid":"h"}"#, "token"),
            (#"{"token":"t","hwid":""}"#, "hwid"), (#"{"token":"t","hwid":"a\nb"}"#, "hwid"),
            (#"{"token":"t","hwid":"h"} x"#, "JSON"), (#"{"token":"t","token":"u","hwid":"h"}"#, "token"),
        ])
    func malformed(body: String, field: String) async throws {
        let bench = try Bench()
        let response = try await bench.send("POST", "/api/v1/provision", body: body).response
        #expect(response.status == 400)
        #expect(response.errorCode == "malformed")
        let error = try #require(try response.object["error"] as? [String: Any])
        #expect((error["message"] as? String)?.hasPrefix(field) == true)
    }

    @Test("too long values are refused")
    func oversized() async throws {
        let bench = try Bench()
        for (token, hwid) in [(1025, 1), (1, 129)] {
            let body =
                #"{"token":"\#(String(repeating: "t", count: token))","#
                + #""hwid":"\#(String(repeating: "h", count: hwid))"}"#
            let response = try await bench.send("POST", "/api/v1/provision", body: body).response
            #expect(response.status == 400)
        }
    }

    @Test("an exhausted pool is 503 with a time to come back, and the token stays good")
    func exhaustion() async throws {
        let bench = try Bench(pools: ["192.0.2.0/30"])
        let device = try await bench.device()
        let token = try await bench.token()
        let response = try await bench.provision(token: token, hwid: "hwid-2")
        #expect(response.status == 503)
        #expect(response.errorCode == "pool-exhausted")
        #expect(response.header("Retry-After") == "300")
        #expect(try await bench.deprovision(device).status == 204)
        #expect(try await bench.provision(token: token, hwid: "hwid-2").status == 200)
    }

    @Test("five requests a minute are answered for each address, good or bad; then 429 says how long to wait")
    func rateLimit() async throws {
        let bench = try Bench { $0.provisionLimit = 5 }
        for number in 0..<5 {
            bench.clock.advance(1)
            let response = try await bench.provision(token: "unknown")
            #expect(response.status == 401, "request \(number)")
        }
        bench.clock.advance(1)
        let token = try await bench.token()
        let refused = try await bench.provision(token: token)
        #expect(refused.status == 429)
        #expect(refused.errorCode == "too-many-requests")
        // The first request was five seconds ago.
        #expect(refused.header("Retry-After") == "55")
        #expect(try await bench.provision(token: token, from: "192.0.2.2").status == 200)
        bench.clock.advance(54)
        #expect(try await bench.provision(token: token).status == 429)
        bench.clock.advance(1)
        #expect(try await bench.provision(token: token).status == 200)
    }

    @Test("a token whose device gave its identity back gives no second one")
    func afterDeprovision() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        #expect(try await bench.deprovision(device).status == 204)
        #expect(try await bench.provision(token: device.token).status == 401)
    }

    @Test("after a rotation the same token gets the newest keys")
    func afterRotation() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let key = SecretBytes(randomByteCount: 32)
        let generation = try await bench.store.addKeys(
            to: device.id, privateKey: key, presharedKey: nil, at: bench.clock.now)
        #expect(generation == 2)
        let config = try await bench.provision(token: device.token).provisioned(device.key)
        let expected = try key.withBytes { try PrivateKey(rawRepresentation: $0) }
        #expect(config.privateKey.isEqual(to: expected))
        #expect(config.presharedKey == nil)
        #expect(config.addresses == device.config.addresses)
    }

    @Test("without preshared keys there are none")
    func noPresharedKeys() async throws {
        let bench = try Bench { $0.usesPresharedKeys = false }
        #expect(try await bench.device().config.presharedKey == nil)
    }
}
