// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import Harness
import NexusGuard
import Testing

@Suite("configurations there and back")
struct RoundTripTests {
    /// Compares every field, with keys as text.
    private func expectEqual(_ left: WireGuardConfig, _ right: WireGuardConfig) {
        #expect(left.deviceID == right.deviceID)
        #expect(left.privateKey.base64 == right.privateKey.base64)
        #expect(left.presharedKey?.base64 == right.presharedKey?.base64)
        #expect(left.addresses == right.addresses)
        #expect(left.serverPublicKey == right.serverPublicKey)
        #expect(left.endpoint == right.endpoint)
        #expect(left.nameServers == right.nameServers)
        #expect(left.allowedIPs == right.allowedIPs)
        #expect(left.serverAddress == right.serverAddress)
        #expect(left.mtu == right.mtu)
        #expect(left.keepalive == right.keepalive)
        #expect(left.configHash == right.configHash)
        #expect(left.forwardsHash == right.forwardsHash)
        #expect(left.forwards == right.forwards)
        #expect(left.adminURL == right.adminURL)
    }

    @Test("what is written is read back as it was", arguments: 0..<100 as Range<UInt64>)
    func codec(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let config = try Sample.random(&random)
        let json = WireGuardConfigCodec.serialise(config)
        let read = try WireGuardConfigCodec.parse(json, requiresStatus: false)
        expectEqual(read, config)
        #expect(read.tunnelDigest == config.tunnelDigest)
        #expect(read.difference(from: config) == .none)
        #expect(WireGuardConfigCodec.serialise(read) == json)
    }

    @Test("the written form has the names of the interface, and keys in hexadecimal")
    func names() throws {
        let object = try JSONSerialization.jsonObject(
            with: Data(HeartbeatResponse(config: Sample.config(), nextInterval: .seconds(30)).json()))
        let fields = try #require(object as? [String: Any])
        #expect(Set(fields.keys) == Set(Sample.fields.keys))
        // The private key is clamped when it is read: RFC 7748 section 5.
        let clamped = try PrivateKey(hexadecimal: Sample.privateKey)
        #expect(
            fields["private_key"] as? String
                == Data(base64Encoded: clamped.base64)?.map {
                    String(format: "%02x", $0)
                }.joined())
        #expect(fields["preshared_key"] as? String == Sample.presharedKey)
        #expect(fields["server_pub"] as? String == Sample.serverKey)
        #expect(fields["internal_ip"] as? String == "10.172.21.2/32")
        #expect(fields["allowed_ips"] as? String == "10.0.0.0/8, fd00::/8")
        #expect(fields["status"] as? String == "ok")
        #expect(fields["next_interval"] as? Int == 30)
    }

    @Test("the largest configuration that 64 KiB can bring is read back after it was written")
    func largest() throws {
        let prefixes = (0..<1024).map { "2001:db8:0:\(String($0, radix: 16)):1111:2222:3333:4444" }
        let config = try Sample.config(["allowed_ips": prefixes])
        let read = try WireGuardConfigCodec.parse(
            WireGuardConfigCodec.serialise(config), requiresStatus: false)
        expectEqual(read, config)
    }

    @Test("a mutated document is refused or read the same again", arguments: 0..<6 as Range<UInt64>)
    func mutated(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let document = WireGuardConfigCodec.serialise(try Sample.random(&random))
        let alphabet = Array("{}[]\",:/.%\\u0123456789abfE-tn \t\n".utf8) + [0x1B, 0xC3, 0xFF]
        var taken = 0
        for _ in 0..<2000 {
            var bytes = document
            let place = Int.random(in: 0..<bytes.count, using: &random)
            if Bool.random(using: &random) {
                bytes[place] = alphabet.randomElement(using: &random) ?? 0
            } else {
                bytes.replaceSubrange(place..<min(place + 3, bytes.count), with: [])
            }
            guard let config = try? WireGuardConfigCodec.parse(bytes, requiresStatus: false) else { continue }
            taken += 1
            let again = try WireGuardConfigCodec.parse(
                WireGuardConfigCodec.serialise(config), requiresStatus: false)
            #expect(again.difference(from: config) == .none, "seed \(seed)")
            #expect(again.tunnelDigest == config.tunnelDigest, "seed \(seed)")
        }
        #expect(taken > 0)
    }

    @Test("a heartbeat answer is read back, plain and sealed", arguments: 0..<20 as Range<UInt64>)
    func heartbeatResponse(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let config = try Sample.random(&random)
        let key = CryptoManager.deriveKey(token: "token", hwid: "hwid")
        let response = HeartbeatResponse(config: config, nextInterval: .seconds(45))
        expectEqual(try HeartbeatResponse(parsing: response.json()).config, config)
        let sealed = response.sealedJSON(key: key)
        let opened = try HeartbeatResponse(parsing: sealed, key: key, requiresEncryption: true)
        expectEqual(opened.config, config)
        #expect(opened.nextInterval == .seconds(45))
        #expect(!String(decoding: sealed, as: UTF8.self).contains("10."))
    }

    @Test("a sealed answer needs the device's key, and a plain one can be refused")
    func sealedRules() throws {
        let key = CryptoManager.deriveKey(token: "token", hwid: "hwid")
        let response = HeartbeatResponse(config: try Sample.config())
        let sealed = response.sealedJSON(key: key)
        let other = CryptoManager.deriveKey(token: "token", hwid: "hwie")
        #expect(throws: AgentError.cryptoDecryptionFailed) {
            try HeartbeatResponse(parsing: sealed, key: other, requiresEncryption: false)
        }
        #expect(throws: AgentError.cryptoDecryptionFailed) {
            try HeartbeatResponse(parsing: sealed, key: nil, requiresEncryption: false)
        }
        // What was sealed under K itself is an answer to another request.
        let swapped = ProvisionResponse(encryptedConfig: CryptoManager.encrypt(response.json(), key: key))
        #expect(throws: AgentError.cryptoDecryptionFailed) {
            try HeartbeatResponse(parsing: swapped.json(), key: key, requiresEncryption: false)
        }
        #expect(throws: AgentError.configInvalid(field: "encrypted_config", reason: "is missing")) {
            try HeartbeatResponse(parsing: response.json(), key: key, requiresEncryption: true)
        }
        let plain = try HeartbeatResponse(parsing: response.json(), key: key, requiresEncryption: false)
        expectEqual(plain.config, response.config)
    }

    @Test("the requests are read back as they were")
    func requests() throws {
        let provision = try ProvisionRequest(
            parsing: ProvisionRequest(token: "é\n\"t\u{0}", hwid: "0123456789abcdef").json())
        #expect(provision.token == "é\n\"t\u{0}")
        #expect(provision.hwid == "0123456789abcdef")
        for date in [nil, Date(timeIntervalSince1970: 1_782_464_400)] {
            let request = HeartbeatRequest(
                deviceID: "d\"é", status: "connected", tunnelUp: date != nil, lastHandshake: date)
            #expect(try HeartbeatRequest(parsing: request.json()) == request)
        }
        let deprovision = DeprovisionRequest(deviceID: "d\"é")
        #expect(try DeprovisionRequest(parsing: deprovision.json()) == deprovision)
        #expect(throws: AgentError.configInvalid(field: "device_id", reason: "is missing")) {
            try DeprovisionRequest(parsing: Array("{}".utf8))
        }
        let forwards = try Sample.config().forwards ?? []
        for hash in [nil, "h"] {
            let response = ForwardsResponse(forwards: forwards, forwardsHash: hash)
            #expect(try ForwardsResponse(parsing: response.json()) == response)
        }
    }

    @Test("the heartbeat of the seed document is read")
    func seedHeartbeat() throws {
        let request = try HeartbeatRequest(
            parsing: Array(
                """
                {"device_id": "uuid", "status": "connected", "tunnel_up": true,
                 "last_handshake": "2026-06-26T09:00:00Z"}
                """.utf8))
        #expect(request.deviceID == "uuid")
        #expect(request.tunnelUp)
        #expect(request.lastHandshake == Date(timeIntervalSince1970: 1_782_464_400))
        let text = String(decoding: request.json(), as: UTF8.self)
        #expect(text.contains("\"last_handshake\":\"2026-06-26T09:00:00Z\""))
    }

    @Test(
        "bad requests are refused by the name of the field",
        arguments: [
            ("{\"hwid\":\"h\"}", "token"), ("{\"token\":\"\",\"hwid\":\"h\"}", "token"),
            ("{\"token\":1,\"hwid\":\"h\"}", "token"), ("{\"token\":\"t\"}", "hwid"),
            ("{\"token\":\"t\",\"hwid\":\"\"}", "hwid"), ("{\"token\":\"t\",\"hwid\":\"a\\nb\"}", "hwid"),
            ("{\"token\":\"t\",\"hwid\":[]}", "hwid"), ("[]", "document"), ("{\"token\"", "JSON"),
        ])
    func badProvision(_ text: String, _ field: String) {
        let error = #expect(throws: AgentError.self) { try ProvisionRequest(parsing: Array(text.utf8)) }
        guard case .configInvalid(field, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("tokens and hardware identifiers are bounded")
    func bounds() {
        func refused(_ token: String, _ hwid: String) -> String? {
            do {
                _ = try ProvisionRequest(token: token, hwid: hwid)
                return nil
            } catch {
                guard case .configInvalid(let field, _) = error else { return "another error" }
                return field
            }
        }
        #expect(refused(String(repeating: "t", count: 1024), String(repeating: "h", count: 128)) == nil)
        #expect(refused(String(repeating: "t", count: 1025), "h") == "token")
        #expect(refused("t", String(repeating: "h", count: 129)) == "hwid")
    }

    @Test(
        "bad heartbeats are refused by the name of the field",
        arguments: [
            ("device_id", "1"), ("device_id", "\"\""), ("device_id", "\"a\\u001b\""), ("status", "true"),
            ("status", "\"\""), ("tunnel_up", "\"true\""), ("tunnel_up", "1"), ("tunnel_up", "null"),
            ("last_handshake", "1782464400"), ("last_handshake", "\"yesterday\""), ("last_handshake", "\"\""),
            ("last_handshake", "\"2026-02-30T00:00:00Z\""),
        ])
    func badHeartbeat(_ name: String, _ value: String) {
        var fields = [
            "device_id": "\"d\"", "status": "\"connected\"", "tunnel_up": "false", "last_handshake": "null",
        ]
        fields[name] = value
        let text = "{" + fields.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
        let error = #expect(throws: AgentError.self) { try HeartbeatRequest(parsing: Array(text.utf8)) }
        guard case .configInvalid(name, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
