// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuard
import Testing

@Suite("no secret in messages")
struct SecrecyTests {
    private static let token = "ngt_4f9a0c7be1d25386aa90"
    private static let secrets = [
        Sample.privateKey, Sample.presharedKey, Sample.base64(Sample.privateKey),
        Sample.privateKey.uppercased(),
        token,
    ]

    /// Everything that an error can be shown as.
    private func shown(_ error: AgentError) -> String {
        var text = "\(error) \(String(reflecting: error)) \(error.code)"
        dump(error, to: &text)
        return text
    }

    private func expectNoSecret(_ text: String, _ place: String) {
        for secret in Self.secrets {
            #expect(!text.contains(secret), "\(place)")
            // Nor enough of one to search for.
            #expect(!text.contains(secret.prefix(21)), "\(place)")
            #expect(!text.contains(secret.suffix(21)), "\(place)")
        }
    }

    @Test(
        "a secret in the wrong field, whole or damaged, is never in the error",
        arguments: Sample.fields.keys.sorted())
    func wrongField(_ name: String) throws {
        for secret in Self.secrets {
            for value in [
                secret, "x" + secret, secret + "!", secret + "\n", secret + ":0", secret + "/99",
                "1.1.1.1," + secret,
                "[" + secret + "]:1", "https://" + secret + "@host/", secret + " " + secret,
            ] {
                for form in [value, [value], ["a": value], [[value]]] as [Any] {
                    guard let error = try Sample.error([name: form]) else { continue }
                    expectNoSecret(shown(error), name)
                }
            }
        }
    }

    @Test("a secret as the name of a field, or in a broken document, is never in the error")
    func wrongPlace() throws {
        for secret in Self.secrets {
            for text in [
                secret, "{\"\(secret)\"", "{\"\(secret)\":1,\"\(secret)\":2}", "\"\(secret)", "{\(secret):1}",
                "{\"a\":\(secret)}", "[\"\(secret)\\q\"]", "{\"private_key\":\"\(secret)\u{1}\"}",
                "{\"token\":\"\(secret)\"}", "{\"token\":\"\(secret)\",\"hwid\":\"\(secret)\n\"}",
                "[Interface]\nPrivateKey = \(secret)x", "[Interface]\n\(secret)", "\(secret) = 1",
                "[Interface]\nAddress = \(secret)", "[Interface]\nPrivateKey \(secret)", "[\(secret)]",
            ] {
                let bytes = Array(text.utf8)
                let parsers: [() throws -> Any] = [
                    { try HeartbeatResponse(parsing: bytes) }, { try ProvisionRequest(parsing: bytes) },
                    { try ProvisionResponse(parsing: bytes) }, { try HeartbeatRequest(parsing: bytes) },
                    { try ForwardsResponse(parsing: bytes) },
                    { try WireGuardConfigImport(bytes, deviceID: "d", passphrase: Array(secret.utf8)) },
                    {
                        try CryptoManager.decrypt(
                            encoded: text, key: CryptoManager.deriveKey(token: secret, hwid: ""))
                    },
                ]
                for parser in parsers {
                    do {
                        _ = try parser()
                    } catch let error as AgentError {
                        expectNoSecret(shown(error), text)
                    }
                }
            }
        }
    }

    @Test("neither printing nor dumping a value shows a key or a whole device")
    func values() throws {
        let config = try Sample.config()
        let response = HeartbeatResponse(config: config)
        let request = HeartbeatRequest(
            deviceID: config.deviceID, status: "connected", tunnelUp: true, lastHandshake: nil)
        let provision = try ProvisionRequest(token: Self.token, hwid: config.deviceID)
        let key = CryptoManager.deriveKey(token: Self.token, hwid: "h")
        let proof = RequestAuthorization(
            method: "GET", path: "/", timestamp: 1, nonce: [UInt8](repeating: 1, count: 16), body: [],
            deviceID: config.deviceID, key: key)
        let fields = try JSONValue(parsing: Sample.json())
        let values: [Any] = [
            config, response, request, provision, key, proof, fields,
            DeprovisionRequest(deviceID: config.deviceID),
            config.tunnelConfiguration(firewallMark: 1),
        ]
        for value in values {
            var text = "\(value) \(String(reflecting: value))"
            dump(value, to: &text)
            expectNoSecret(text, "\(type(of: value))")
            #expect(!text.contains(config.deviceID), "\(type(of: value))")
            #expect(!text.contains(config.privateKey.base64))
            #expect(!text.isEmpty)
        }
    }

    @Test(
        "a mask shows at most four characters and never a whole identifier",
        arguments: [
            ("device-0d1e78ef6515", "devi…"), ("abcdefgh", "abcd…"), ("abcdefg", "abc…"), ("abc", "a…"),
            ("a", "…"),
            ("", "…"), ("périphérique", "péri…"), ("a\u{1B}[2Jefgh", "a?[2…"), ("\u{202E}abcdefgh", "?abc…"),
        ])
    func mask(_ id: String, _ masked: String) {
        #expect(DeviceIDMask.mask(id) == masked)
    }

    @Test("text for logs and terminals has no character that acts on them")
    func plain() {
        #expect(ShownText.plain("a\nb\u{1B}[31m\u{9B}é中🔑\u{202E}") == "a?b?[31m?é中🔑?")
        #expect(ShownText.plain(String(repeating: "a", count: 300), limit: 5) == "aaaaa…")
        #expect(ShownText.isPlain("périphérique-中 🔑"))
        for scalar in [
            0, 9, 10, 13, 27, 127, 0x85, 0x9F, 0xAD, 0x200B, 0x202A, 0x2028, 0x2066, 0xFEFF, 0xE000,
        ] {
            let character = Unicode.Scalar(scalar).map { String(Character($0)) } ?? ""
            #expect(!ShownText.isPlain("a\(character)b"), "\(scalar)")
        }
    }

    @Test("the codes of errors are stable, and all different")
    func codes() {
        let errors: [(AgentError, String)] = [
            (.networkOffline, "network-offline"), (.provisioningFailed("x"), "provisioning-failed"),
            (.heartbeatFailed("x"), "heartbeat-failed"), (.cryptoDecryptionFailed, "decryption-failed"),
            (.configInvalid(field: "f", reason: "r"), "config-invalid"),
            (.tunnelInitFailed("x"), "tunnel-failed"),
            (.secretStore(28), "secret-store"), (.unauthorized, "unauthorized"),
            (.rateLimited(retryAfter: .seconds(9)), "rate-limited"),
            (.serverRejected(418), "server-rejected"),
            (.tls("x"), "tls"), (.captivePortal, "captive-portal"),
            (.clockSkew(.seconds(-400)), "clock-skew"),
            (.revoked, "revoked"), (.notProvisioned, "not-provisioned"),
            (.handshakeTimedOut, "handshake-timeout"),
            (.identityMismatch, "identity-mismatch"),
        ]
        for (error, code) in errors {
            #expect(error.code == code)
            #expect(!error.description.isEmpty)
        }
        #expect(Set(errors.map(\.1)).count == errors.count)
        #expect(AgentError.rateLimited(retryAfter: .seconds(9)).description.contains("9 s"))
    }
}
