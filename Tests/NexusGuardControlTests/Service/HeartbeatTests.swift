// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Heartbeat")
struct HeartbeatTests {
    private let envelope = [(name: "X-NexusGuard-Envelope", value: "aes-256-gcm")]

    @Test("the answer has the fields of the interface, in its forms")
    func fields() async throws {
        let bench = try Bench { settings in
            settings.heartbeatInterval = .seconds(45)
            settings.nameServers = [IPAddress(ipv4: 0x0101_0101)]
        }
        let device = try await bench.device()
        let response = try await bench.heartbeat(device).response
        #expect(response.status == 200)
        #expect(response.header("Cache-Control") == "no-store")
        let object = try response.object
        #expect(object["device_id"] as? String == device.id)
        #expect(object["status"] as? String == "ok")
        #expect((object["internal_ip"] as? String)?.hasPrefix("10.172.21.2") == true)
        for name in ["private_key", "preshared_key", "server_pub"] {
            let text = try #require(object[name] as? String)
            #expect(text.count == 64 && text.allSatisfy { $0.isHexDigit }, "\(name)")
        }
        #expect(object["endpoint"] as? String == "vpn.example.net:51820")
        #expect(object["dns"] as? String == "1.1.1.1")
        #expect(object["allowed_ips"] as? String == "10.172.21.0/24")
        #expect(object["server_wg_ip"] as? String == "10.172.21.1")
        #expect((object["forwards_hash"] as? String)?.isEmpty == false)
        #expect((object["config_hash"] as? String)?.count == 64)
        #expect(object["next_interval"] as? Int == 45)
        #expect(object["forwards"] == nil)
    }

    @Test("it is the configuration that the device was provisioned with, beat after beat")
    func stable() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        for _ in 0..<5 {
            bench.clock.advance(30)
            let config = try await HeartbeatResponse(parsing: bench.heartbeat(device).response.body).config
            #expect(config.difference(from: device.config) == .none)
        }
    }

    @Test("asked for an envelope, the server shows nothing outside it")
    func encrypted() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let response = try await bench.heartbeat(device, headers: envelope).response
        #expect(response.status == 200)
        #expect(try Set(response.object.keys) == ["encrypted_config"])
        let decoded = try HeartbeatResponse(
            parsing: response.body, key: device.key, requiresEncryption: true)
        #expect(decoded.config.difference(from: device.config) == .none)
        // The key of provisioning itself does not open it.
        let text = try ProvisionResponse(parsing: response.body).encryptedConfig
        #expect(throws: AgentError.cryptoDecryptionFailed) {
            try CryptoManager.decrypt(encoded: text, key: device.key)
        }
    }

    @Test("an envelope of another kind is refused, and a missing one where it is required")
    func envelopes() async throws {
        let bench = try Bench { $0.requiresEnvelope = true }
        let device = try await bench.device()
        let missing = try await bench.heartbeat(device).response
        #expect(missing.status == 400)
        #expect(missing.errorCode == "envelope-required")
        let other = [(name: "X-NexusGuard-Envelope", value: "rot13")]
        let unknown = try await bench.heartbeat(device, headers: other).response
        #expect(unknown.status == 400)
        #expect(unknown.errorCode == "unknown-envelope")
        #expect(try await bench.heartbeat(device, headers: envelope).response.status == 200)
    }

    @Test("what a device says is kept")
    func report() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let handshake = bench.clock.now.addingTimeInterval(-12)
        bench.clock.advance(5)
        _ = await bench.heartbeat(device, lastHandshake: handshake)
        let record = try #require(await bench.store.device(device.id))
        #expect(record.lastSeen == bench.clock.now)
        #expect(
            record.report
                == DeviceRecord.Report(
                    status: "connected", isTunnelUp: true, lastHandshake: handshake, address: "192.0.2.1"))
        _ = await bench.heartbeat(device, isUp: false)
        let later = try #require(await bench.store.device(device.id)?.report)
        #expect(later.isTunnelUp == false)
        #expect(later.status == "disconnected")
        #expect(later.lastHandshake == nil)
    }

    @Test(
        "a heartbeat that makes no sense is refused with the field named",
        arguments: [
            ("", "JSON"), ("null", "document"), (#"{"status":"ok","tunnel_up":true}"#, "device_id"),
            (#"{"device_id":"x","tunnel_up":true}"#, "status"),
            (#"{"device_id":"x","status":"ok"}"#, "tunnel_up"),
            (#"{"device_id":"x","status":"ok","tunnel_up":"yes"}"#, "tunnel_up"),
            (
                #"{"device_id":"x","status":"ok","tunnel_up":true,"last_handshake":"yesterday"}"#,
                "last_handshake"
            ),
            (#"{"device_id":"","status":"ok","tunnel_up":true}"#, "device_id"),
        ])
    func malformed(body: String, field: String) async throws {
        let bench = try Bench()
        let response = try await bench.send("POST", "/api/v1/heartbeat", body: body).response
        #expect(response.status == 400)
        let error = try #require(try response.object["error"] as? [String: Any])
        #expect((error["message"] as? String)?.hasPrefix(field) == true)
    }

    @Test("an unknown device is 404")
    func unknown() async throws {
        let bench = try Bench()
        let body = #"{"device_id":"nobody","status":"connected","tunnel_up":true,"last_handshake":null}"#
        let response = try await bench.send("POST", "/api/v1/heartbeat", body: body).response
        #expect(response.status == 404)
        #expect(response.errorCode == "unknown-device")
    }

    @Test("a revoked device is 410 once it has proved itself, and gets no key")
    func revoked() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        #expect(try await bench.store.revokeDevice(device.id, as: .revoked, at: bench.clock.now))
        let bare = try await bench.send("POST", "/api/v1/heartbeat", body: device.news()).response
        #expect(bare.status == 401)
        let plain = try await bench.heartbeat(device).response
        #expect(plain.status == 410)
        #expect(try plain.object as? [String: String] == ["device_id": device.id, "status": "revoked"])
        let sealed = try await bench.heartbeat(device, headers: envelope).response
        #expect(sealed.status == 410)
        let text = try ProvisionResponse(parsing: sealed.body).encryptedConfig
        let statement = try CryptoManager.decrypt(
            encoded: text, key: CryptoManager.heartbeatResponseKey(device.key))
        #expect(
            try JSONSerialization.jsonObject(with: Data(statement)) as? [String: String]
                == ["device_id": device.id, "status": "revoked"])
        #expect(try await bench.forwards(device).status == 410)
    }

    @Test("rotated keys come with the next heartbeat, and the old ones are accepted until the new are used")
    func rotation() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        #expect(
            try await bench.store.addKeys(
                to: device.id, privateKey: SecretBytes(randomByteCount: 32),
                presharedKey: SecretBytes(randomByteCount: 32), at: bench.clock.now) == 2)
        bench.clock.advance(30)
        let before = bench.clock.now
        let config = try await HeartbeatResponse(parsing: bench.heartbeat(device).response.body).config
        #expect(config.difference(from: device.config) == .identity)
        #expect(config.addresses == device.config.addresses)
        #expect(config.deviceID == device.id)
        func accepted() async throws -> [PublicKey] {
            let keys = try await bench.store.device(device.id)?.keys ?? []
            return keys.compactMap { $0.wireGuardPrivateKey?.publicKey }
        }
        let both = [device.config.privateKey.publicKey, config.privateKey.publicKey]
        #expect(try await accepted() == both)
        // Neither a handshake from before the delivery nor a tunnel that is down is a sign of the new keys.
        bench.clock.advance(30)
        _ = await bench.heartbeat(device, lastHandshake: before)
        _ = await bench.heartbeat(device, isUp: false, lastHandshake: bench.clock.now)
        #expect(try await accepted() == both)
        _ = await bench.heartbeat(device, lastHandshake: before.addingTimeInterval(2))
        #expect(try await accepted() == [config.privateKey.publicKey])
        let next = try await HeartbeatResponse(parsing: bench.heartbeat(device).response.body).config
        #expect(next.difference(from: config) == .none)
    }

    @Test("the sign counts by the server's clock when the device's is ahead")
    func rotationWithClockLead() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        #expect(
            try await bench.store.addKeys(
                to: device.id, privateKey: SecretBytes(randomByteCount: 32), presharedKey: nil,
                at: bench.clock.now) == 2)
        _ = await bench.heartbeat(device)
        bench.clock.advance(30)
        let ahead = bench.clock.now.addingTimeInterval(200)
        // By the device's clock 160 s behind the delivery, in truth 40 s before it.
        _ = await bench.heartbeat(device, lastHandshake: ahead.addingTimeInterval(-70), at: ahead)
        #expect(try await bench.store.device(device.id)?.keys.count == 2)
        let more = ahead.addingTimeInterval(1)
        _ = await bench.heartbeat(device, lastHandshake: ahead.addingTimeInterval(-20), at: more)
        #expect(try await bench.store.device(device.id)?.keys.count == 1)
    }
}
