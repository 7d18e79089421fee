// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import Harness
import NexusGuard
import Testing

@Suite("import and export")
struct ExchangeTests {
    private static let cheap = WireGuardConfigExport.Cost(operations: 1, memory: 8)
    private static let file = """
        # A file as wg-quick reads it.
        [Interface]
        PrivateKey = \(Sample.base64(Sample.privateKey))
        Address = 10.172.21.2/24, fd00::2/64
        DNS = 1.1.1.1
        MTU = 1400

        [Peer]
        PublicKey = \(Sample.base64(Sample.serverKey))
        PresharedKey = \(Sample.base64(Sample.presharedKey))
        AllowedIPs = 10.0.0.0/8, fd00::/8
        Endpoint = vpn.example.net:59750
        PersistentKeepalive = 20
        """

    private func error(_ text: String, passphrase: String? = nil) -> AgentError? {
        do {
            _ = try WireGuardConfigImport(
                Array(text.utf8), deviceID: "own", passphrase: passphrase.map { Array($0.utf8) })
            return nil
        } catch {
            return error
        }
    }

    /// The members of a document, by Foundation.
    private func object(_ json: [UInt8]) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any] ?? [:]
    }

    // MARK: Import

    @Test("a wg-quick file gives the configuration that JSON gives")
    func quickFile() throws {
        let imported = try WireGuardConfigImport(Array(Self.file.utf8), deviceID: "device-0d1e78ef6515")
        let expected = try Sample.config(
            ["internal_ip": "10.172.21.2/24, fd00::2/64", "dns": "1.1.1.1"], absent: ["server_wg_ip"])
        #expect(imported.config.tunnelDigest == expected.tunnelDigest)
        #expect(imported.config.deviceID == "device-0d1e78ef6515")
        #expect(imported.config.difference(from: expected) == .forwards)
        #expect(imported.config.forwards == nil)
        #expect(imported.remarks.isEmpty)
        let parsed = try WireGuardConfigImport.parse(Array(Self.file.utf8), deviceID: "d")
        #expect(parsed.tunnelDigest == expected.tunnelDigest)
    }

    @Test("what the agent does not use is remarked, and commands are not taken")
    func remarks() throws {
        let text = Self.file.replacing(
            "MTU = 1400",
            with: """
                ListenPort = 51820
                FwMark = 0x10
                Table = off
                DNS = corp.example
                PostUp = touch /tmp/x
                SaveConfig = true
                """)
        let imported = try WireGuardConfigImport(Array(text.utf8), deviceID: "d")
        #expect(imported.remarks.count == 6)
        for word in ["ListenPort", "FwMark", "Table", "search domains", "PostUp", "SaveConfig"] {
            #expect(imported.remarks.contains { $0.contains(word) }, "\(word)")
        }
        #expect(!imported.remarks.joined().contains("/tmp/x"))
        #expect(imported.config.nameServers.map(\.description) == ["1.1.1.1"])
    }

    /// A change of the file, and the field that the error names.
    private static let badFiles: [(String, String, String)] = [
        ("Endpoint = vpn.example.net:59750\n", "", "Endpoint"),
        ("Endpoint = vpn.example.net:59750", "Endpoint = vpn.example.net", "line 12: Endpoint"),
        ("Endpoint = vpn.example.net:59750", "Endpoint = 0.0.0.0:1", "Endpoint"),
        ("Address = 10.172.21.2/24, fd00::2/64\n", "", "Address"),
        ("10.172.21.2/24", "127.0.0.1", "Address[0]"),
        ("10.172.21.2/24", "10.172.21.2/0", "Address[0]"),
        ("10.172.21.2/24", (1...16).map { "10.0.0.\($0)" }.joined(separator: ","), "Address"),
        ("vpn.example.net:59750", "vpn\u{202E}.example.net:59750", "Endpoint"),
        ("10.172.21.2/24", "10.172.21.2/33", "line 4: Address"),
        ("AllowedIPs = 10.0.0.0/8, fd00::/8\n", "", "AllowedIPs"),
        ("MTU = 1400", "MTU = 100", "MTU"),
        ("MTU = 1400", "MTU = 1279", "MTU"),
        ("MTU = 1400", "MTU = x", "line 6: MTU"),
        ("DNS = 1.1.1.1", "DNS = 1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4,1.1.1.5", "DNS"),
        ("DNS = 1.1.1.1", "DNS = 224.0.0.1", "DNS[0]"),
        ("PrivateKey = ", "PrivateKey = x", "line 3: PrivateKey"),
        ("PublicKey = ", "PublicKey = x", "line 9: PublicKey"),
        ("[Interface]", "[Interfaces]", "line 2: (no key)"),
        ("PersistentKeepalive = 20", "PersistentKeepalive = 99999", "line 13: PersistentKeepalive"),
        ("[Peer]", "[Peer]\nPublicKey = \(Sample.base64(Sample.presharedKey))\n[Peer]", "[Peer]"),
    ]

    @Test("a bad file is refused with its line or field named", arguments: badFiles)
    func badFile(_ text: String, _ replacement: String, _ field: String) {
        guard
            case .configInvalid(let named, let reason)? = error(Self.file.replacing(text, with: replacement))
        else {
            Issue.record("taken")
            return
        }
        #expect(named == field)
        #expect(!reason.contains(Sample.base64(Sample.privateKey)))
        #expect(!reason.contains(Sample.base64(Sample.presharedKey)))
    }

    @Test("a file without a peer, an empty text and one that is too long are refused")
    func otherTexts() {
        let noPeer =
            String(Self.file.prefix { $0 != "P" }) + "PrivateKey = \(Sample.base64(Sample.privateKey))\n"
        #expect(error(noPeer) == .configInvalid(field: "[Peer]", reason: "is missing"))
        for text in ["", " \n\t "] {
            #expect(error(text) == .configInvalid(field: "document", reason: "is empty"))
        }
        let long = String(repeating: "#", count: WireGuardConfigImport.largestText + 1)
        guard case .configInvalid("document", _)? = error(long) else {
            Issue.record("taken")
            return
        }
        #expect(error("garbage") != nil)
        #expect(error("{\"device_id\":") != nil)
    }

    @Test("JSON keeps its device, and gets the given one when it names none")
    func json() throws {
        let named = try WireGuardConfigImport([32, 10] + Sample.json(absent: ["status"]), deviceID: "own")
        #expect(named.config.deviceID == "device-0d1e78ef6515")
        let unnamed = try WireGuardConfigImport(Sample.json(absent: ["device_id"]), deviceID: "own")
        #expect(unnamed.config.deviceID == "own")
        #expect(throws: AgentError.configInvalid(field: "device_id", reason: "is empty")) {
            try WireGuardConfigImport(Sample.json(["device_id": ""]), deviceID: "own")
        }
    }

    // MARK: Export

    @Test("a redacted export has no key and no whole device, and says so when it is imported")
    func redacted() throws {
        let config = try Sample.config()
        let text = String(decoding: WireGuardConfigExport.redacted(config), as: UTF8.self)
        for secret in [
            Sample.privateKey, Sample.presharedKey, config.privateKey.base64,
            Sample.base64(Sample.presharedKey),
            config.deviceID,
        ] { #expect(!text.contains(secret)) }
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        #expect(object?["device_id"] as? String == "devi…")
        #expect(object?["endpoint"] as? String == "vpn.example.net:59750")
        #expect(object?["public_key"] as? String == config.privateKey.publicKey.base64)
        #expect(object?["has_preshared_key"] as? Bool == true)
        let reason = "is left out of a redacted export: make one with its secrets"
        #expect(error(text) == .configInvalid(field: "private_key", reason: reason))
    }

    @Test("what is exported under a passphrase comes back with it", arguments: 0..<10 as Range<UInt64>)
    func encrypted(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let config = try Sample.random(&random)
        let passphrase = Array("pass-\(seed)-пароль".utf8)
        let text = try WireGuardConfigExport.encrypted(config, passphrase: passphrase, cost: Self.cheap)
        #expect(WireGuardConfigExport.isEncrypted(text))
        #expect(!String(decoding: text, as: UTF8.self).contains(config.endpoint.description))
        let imported = try WireGuardConfigImport(text, deviceID: "other", passphrase: passphrase)
        #expect(imported.config.difference(from: config) == .none)
        #expect(imported.config.deviceID == config.deviceID)
        #expect(imported.config.tunnelDigest == config.tunnelDigest)
        let again = try WireGuardConfigExport.encrypted(config, passphrase: passphrase, cost: Self.cheap)
        #expect(again != text)
    }

    @Test("the exports of another implementation are opened")
    func vectors() throws {
        let data = Data(try Fixture.bytes("agent/export.json"))
        let entries = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        #expect(entries.count == 3)
        for entry in entries {
            let export = [UInt8](try JSONSerialization.data(withJSONObject: entry["export"] ?? [:]))
            let expected = [UInt8](try JSONSerialization.data(withJSONObject: entry["config"] ?? [:]))
            let passphrase = try #require(entry["passphrase"] as? String)
            let imported = try WireGuardConfigImport(
                export, deviceID: "d", passphrase: Array(passphrase.utf8))
            let config = try WireGuardConfigCodec.parse(expected, requiresStatus: false)
            #expect(imported.config.difference(from: config) == .none)
            #expect(imported.config.deviceID == "device-from-elsewhere")
            #expect(imported.config.keepalive == 15)
        }
    }

    @Test("the standard cost is written into the export and opens")
    func standardCost() throws {
        let text = try WireGuardConfigExport.encrypted(Sample.config(), passphrase: Array("12345678".utf8))
        let object = try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
        #expect(object?["operations"] as? Int == 3)
        #expect(object?["memory_kib"] as? Int == 65_536)
        let imported = try WireGuardConfigImport(text, deviceID: "d", passphrase: Array("12345678".utf8))
        #expect(imported.config.difference(from: try Sample.config()) == .none)
    }

    @Test("a wrong passphrase and every change of the export give one clear error")
    func wrongPassphrase() throws {
        let passphrase = "correct horse"
        let text = try WireGuardConfigExport.encrypted(
            Sample.config(), passphrase: Array(passphrase.utf8), cost: Self.cheap)
        let json = String(decoding: text, as: UTF8.self)
        let wrong = AgentError.configInvalid(
            field: "passphrase", reason: "is wrong, or the export was changed")
        for other in ["correct horsf", "Correct horse", "correct horse ", "x"] {
            #expect(error(json, passphrase: other) == wrong)
        }
        #expect(
            error(json)
                == .configInvalid(field: "passphrase", reason: "is missing, and the export is encrypted"))
        #expect(error(json, passphrase: "") == .configInvalid(field: "passphrase", reason: "is empty"))
        #expect(
            error(json.replacing("\"operations\":1", with: "\"operations\":2"), passphrase: passphrase)
                == wrong)
        #expect(
            error(json.replacing("\"memory_kib\":8", with: "\"memory_kib\":9"), passphrase: passphrase)
                == wrong)
        let object = try object(text)
        for name in ["salt", "nonce", "data"] {
            let value = Data(base64Encoded: object[name] as? String ?? "") ?? Data()
            try #require(!value.isEmpty)
            for place in [0, value.count / 2, value.count - 1] {
                var bytes = value
                bytes[place] ^= 1
                let changed = object.merging([name: bytes.base64EncodedString()]) { $1 }
                let changedText = try JSONSerialization.data(withJSONObject: changed)
                #expect(error(String(decoding: changedText, as: UTF8.self), passphrase: passphrase) == wrong)
            }
        }
    }

    @Test("a header that is not right is refused by its field, before any work is done")
    func header() throws {
        let text = try WireGuardConfigExport.encrypted(
            Sample.config(), passphrase: Array("12345678".utf8), cost: Self.cheap)
        let object = try object(text)
        let changes: [(String, Any)] = [
            ("nexusguard_export", 2), ("nexusguard_export", 0), ("nexusguard_export", "1"), ("kdf", "scrypt"),
            ("operations", 0), ("operations", 17), ("memory_kib", 7), ("memory_kib", 262_145),
            ("memory_kib", 4_194_304), ("salt", "AAAA"), ("salt", "*"), ("nonce", "AAAA"), ("data", "AAAA"),
            ("data", "="),
        ]
        for (name, value) in changes {
            let changed = try JSONSerialization.data(withJSONObject: object.merging([name: value]) { $1 })
            guard
                case .configInvalid(name, _)? = error(
                    String(decoding: changed, as: UTF8.self), passphrase: "12345678")
            else {
                Issue.record("\(name) = \(value) was not refused")
                continue
            }
        }
        for name in object.keys where name != "nexusguard_export" {
            var changed = object
            changed[name] = nil
            let bytes = try JSONSerialization.data(withJSONObject: changed)
            guard
                case .configInvalid(name, _)? = error(
                    String(decoding: bytes, as: UTF8.self), passphrase: "12345678")
            else {
                Issue.record("\(name) was not missed")
                continue
            }
        }
    }

    @Test("new passphrases have 8 to 1024 bytes")
    func passphrases() throws {
        let config = try Sample.config()
        for (count, isTaken) in [(0, false), (7, false), (8, true), (1024, true), (1025, false)] {
            let passphrase = [UInt8](repeating: 97, count: count)
            let text = try? WireGuardConfigExport.encrypted(config, passphrase: passphrase, cost: Self.cheap)
            #expect((text != nil) == isTaken, "\(count)")
        }
    }

    @Test("other texts are not taken for encrypted exports")
    func notEncrypted() throws {
        #expect(!WireGuardConfigExport.isEncrypted(Array(Self.file.utf8)))
        #expect(!WireGuardConfigExport.isEncrypted(try Sample.json()))
        #expect(!WireGuardConfigExport.isEncrypted([]))
        #expect(!WireGuardConfigExport.isEncrypted(WireGuardConfigExport.redacted(try Sample.config())))
    }
}
