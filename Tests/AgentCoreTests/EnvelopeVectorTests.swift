// SPDX-License-Identifier: MIT

import AgentCore
import Harness
import NexusGuard
import Testing

/// `Fixtures/vectors/config_envelope.json`.
private struct EnvelopeVectors: Decodable {
    struct Valid: Decodable, CustomTestStringConvertible {
        let name: String
        let token: String
        let hwid: String
        let key: String
        let nonce: String
        let plaintext: String
        let ciphertext: String
        let tag: String
        let blob: String
        let config: [String: String]
        var testDescription: String { name }
    }

    struct Invalid: Decodable, CustomTestStringConvertible {
        let name: String
        let token: String
        let hwid: String
        let blob: String
        let error: String
        var testDescription: String { name }
    }

    let valid: [Valid]
    let invalid: [Invalid]

    static let all: EnvelopeVectors = {
        do {
            return try Fixture.load("vectors/config_envelope.json")
        } catch {
            // The test that counts the vectors fails then.
            return EnvelopeVectors(valid: [], invalid: [])
        }
    }()
}

@Suite("envelope vectors")
struct EnvelopeVectorTests {
    @Test("the file is there, with every kind of rejection")
    func complete() {
        #expect(EnvelopeVectors.all.valid.count == 11)
        #expect(EnvelopeVectors.all.invalid.count == 32)
        let kinds = Set(EnvelopeVectors.all.invalid.map(\.error))
        #expect(kinds == ["base64", "too_short", "authentication", "json", "fields"])
    }

    @Test("the implementation of this processor is chosen, and GnuTLS is always there")
    func choice() {
        #expect(AESGCM.gnuTLS.isAvailable)
        #expect(AESGCM.best == (AESGCM.sodium.isAvailable ? .sodium : .gnuTLS))
    }

    @Test(
        "valid envelopes open to the plaintext, by either implementation",
        arguments: EnvelopeVectors.all.valid, AESGCM.allCases.filter(\.isAvailable))
    private func opens(_ vector: EnvelopeVectors.Valid, _ cipher: AESGCM) throws {
        let key = CryptoManager.deriveKey(token: vector.token, hwid: vector.hwid)
        #expect(key.withBytes { Hexadecimal.text($0.withUnsafeBytes { Array($0) }) } == vector.key)
        let plaintext = try CryptoManager.decrypt(encoded: vector.blob, key: key, by: cipher)
        #expect(plaintext == Fixture.hex(vector.plaintext))
    }

    @Test(
        "sealing the plaintext under the vector's nonce gives the envelope, by either implementation",
        arguments: EnvelopeVectors.all.valid, AESGCM.allCases.filter(\.isAvailable))
    private func seals(_ vector: EnvelopeVectors.Valid, _ cipher: AESGCM) throws {
        let key = try ProvisioningKey(rawRepresentation: Fixture.hex(vector.key))
        let sealed = cipher.seal(
            Fixture.hex(vector.plaintext), nonce: Fixture.hex(vector.nonce), key: key)
        #expect(sealed == Fixture.hex(vector.ciphertext + vector.tag))
        let envelope = CryptoManager.encrypt(
            Fixture.hex(vector.plaintext), nonce: Fixture.hex(vector.nonce), key: key, by: cipher)
        #expect(envelope == vector.blob)
    }

    @Test(
        "the configuration of a valid envelope has the values of the vector",
        arguments: EnvelopeVectors.all.valid)
    private func config(_ vector: EnvelopeVectors.Valid) throws {
        let key = CryptoManager.deriveKey(token: vector.token, hwid: vector.hwid)
        let plaintext = try CryptoManager.decrypt(encoded: vector.blob, key: key)
        let config = try WireGuardConfigCodec.parse(plaintext, requiresStatus: false)
        func text(_ name: String) -> String { vector.config[name] ?? "" }
        #expect(config.deviceID == text("device_id"))
        #expect(config.privateKey.isEqual(to: try PrivateKey(hexadecimal: text("private_key"))))
        if text("preshared_key").allSatisfy({ $0 == "0" }) {
            #expect(config.presharedKey == nil)
        } else {
            let expected = try PresharedKey(hexadecimal: text("preshared_key"))
            #expect(config.presharedKey?.isEqual(to: expected) == true)
        }
        #expect(config.serverPublicKey.hexadecimal == text("server_pub"))
        #expect(config.addresses.map(\.description) == [text("internal_ip") + "/32"])
        #expect(config.endpoint.description == text("endpoint"))
        #expect(config.nameServers.map(\.description).joined(separator: ", ") == text("dns"))
        #expect(config.allowedIPs.map(\.description).joined(separator: ", ") == text("allowed_ips"))
        #expect(config.serverAddress?.description ?? "" == text("server_wg_ip"))
        #expect(config.configHash ?? "" == text("config_hash"))
        #expect(config.forwardsHash ?? "" == text("forwards_hash"))
        #expect(config.keepalive == 25)
        #expect(config.mtu == nil)
    }

    @Test(
        "rejected envelopes are refused for the reason of the vector, by either implementation",
        arguments: EnvelopeVectors.all.invalid, AESGCM.allCases.filter(\.isAvailable))
    private func rejects(_ vector: EnvelopeVectors.Invalid, _ cipher: AESGCM) {
        let key = CryptoManager.deriveKey(token: vector.token, hwid: vector.hwid)
        let error = #expect(throws: AgentError.self) {
            let plaintext = try CryptoManager.decrypt(encoded: vector.blob, key: key, by: cipher)
            _ = try WireGuardConfigCodec.parse(plaintext, requiresStatus: false)
        }
        #expect(error.map(kind) == vector.error)
    }

    /// The name that the vectors have for an error.
    private func kind(_ error: AgentError) -> String {
        switch error {
        case .cryptoDecryptionFailed: "authentication"
        case .configInvalid("encrypted_config", "is not base64"): "base64"
        case .configInvalid("encrypted_config", _): "too_short"
        case .configInvalid("JSON", _): "json"
        case .configInvalid: "fields"
        default: "another error"
        }
    }

    @Test("both implementations open what the other one seals, at every size up to 70 bytes")
    func crossed() {
        var random = SeededGenerator(seed: 7)
        for count in 0...70 {
            let key = CryptoManager.deriveKey(token: "t\(count)", hwid: "h")
            let plaintext = random.bytes(count)
            let nonce = random.bytes(12)
            var results: Set<[UInt8]> = []
            for cipher in AESGCM.allCases where cipher.isAvailable {
                let sealed = cipher.seal(plaintext, nonce: nonce, key: key)
                results.insert(sealed)
                for other in AESGCM.allCases where other.isAvailable {
                    #expect(other.open(sealed[...], nonce: nonce, key: key) == plaintext)
                }
            }
            #expect(results.count == 1)
        }
    }

    @Test("each single flipped bit of an envelope is found", arguments: AESGCM.allCases.filter(\.isAvailable))
    func flipped(_ cipher: AESGCM) {
        let key = CryptoManager.deriveKey(token: "t", hwid: "h")
        let nonce = [UInt8](1...12)
        let sealed = cipher.seal(Array("payload".utf8), nonce: nonce, key: key)
        for bit in 0..<8 * sealed.count {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(cipher.open(changed[...], nonce: nonce, key: key) == nil)
        }
    }

    @Test("no nonce comes twice, and what is sealed opens")
    func randomNonces() throws {
        let key = CryptoManager.deriveKey(token: "t", hwid: "h")
        var nonces: Set<String> = []
        for _ in 0..<2000 {
            let envelope = CryptoManager.encrypt(Array("{}".utf8), key: key)
            #expect(try CryptoManager.decrypt(encoded: envelope, key: key) == Array("{}".utf8))
            // 16 characters are the 12 bytes of the nonce.
            #expect(nonces.insert(String(envelope.prefix(16))).inserted)
        }
    }
}
