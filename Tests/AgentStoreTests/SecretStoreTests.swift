// SPDX-License-Identifier: MIT

import AgentCore
import AgentStore
import Glibc
import NexusGuard
import Testing

@Suite("the store of secrets")
struct SecretStoreTests {
    let folder: TemporaryDirectory
    let keyFolder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        keyFolder = try TemporaryDirectory()
    }

    private func open(isEncrypted: Bool = false) throws(AgentError) -> SecretStore {
        SecretStore(
            directory: try StateDirectory(
                path: folder.path, hostKeyFile: isEncrypted ? keyFolder.path("host.key") : nil))
    }

    /// A configuration in which each field varies with the random numbers.
    private func randomConfig(_ random: inout SeededNumbers) throws -> WireGuardConfig {
        let hasIPv6 = Bool.random(using: &random)
        var addresses = [try InterfaceAddress("10.0.\(UInt8.random(in: 0...255, using: &random)).2/24")]
        if hasIPv6 {
            addresses.append(try InterfaceAddress("fd00::\(Int.random(in: 1...9, using: &random))/64"))
        }
        let endpoints = ["198.51.100.7:51820", "[2001:db8::7]:1", "server.example.net:65535"]
        let allowed = ["0.0.0.0/0", "10.0.0.0/8", "::/0", "fd00::/8", "192.0.2.1/32"]
        return WireGuardConfig(
            deviceID: "device-\(UInt64.random(in: 0...UInt64.max, using: &random))",
            privateKey: PrivateKey(), presharedKey: Bool.random(using: &random) ? PresharedKey() : nil,
            addresses: addresses, serverPublicKey: PrivateKey().publicKey,
            endpoint: try Endpoint(try #require(endpoints.randomElement(using: &random))),
            nameServers: try ["1.1.1.1", "2606:4700::1111"].prefix(Int.random(in: 0...2, using: &random)).map
            {
                try IPAddress($0)
            },
            allowedIPs: try allowed.shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random)).map
            {
                try IPPrefix($0)
            },
            serverAddress: Bool.random(using: &random) ? try IPAddress("10.0.0.1") : nil,
            mtu: Bool.random(using: &random) ? Int.random(in: 1280...1500, using: &random) : nil,
            keepalive: UInt16.random(in: 0...120, using: &random),
            configHash: Bool.random(using: &random) ? "c-hash" : nil,
            forwardsHash: Bool.random(using: &random) ? "f-hash" : nil,
            forwards: Bool.random(using: &random)
                ? [
                    PortForward(
                        transportProtocol: .udp, publicPort: 8443, targetAddress: try IPAddress("10.9.9.9"),
                        targetPort: 443)
                ] : nil,
            adminURL: Bool.random(using: &random) ? "https://control.example.net/admin" : nil)
    }

    private func expectSame(_ found: WireGuardConfig?, _ expected: WireGuardConfig, _ note: Comment) throws {
        let found = try #require(found, note)
        #expect(found.deviceID == expected.deviceID, note)
        #expect(found.privateKey.isEqual(to: expected.privateKey), note)
        #expect((found.presharedKey == nil) == (expected.presharedKey == nil), note)
        if let left = found.presharedKey, let right = expected.presharedKey {
            #expect(left.isEqual(to: right), note)
        }
        #expect(found.addresses == expected.addresses, note)
        #expect(found.serverPublicKey == expected.serverPublicKey, note)
        #expect(found.endpoint == expected.endpoint, note)
        #expect(found.nameServers == expected.nameServers, note)
        #expect(found.allowedIPs == expected.allowedIPs, note)
        #expect(found.serverAddress == expected.serverAddress, note)
        #expect(found.mtu == expected.mtu, note)
        #expect(found.keepalive == expected.keepalive, note)
        #expect(found.configHash == expected.configHash, note)
        #expect(found.forwardsHash == expected.forwardsHash, note)
        #expect(found.forwards == expected.forwards, note)
        #expect(found.adminURL == expected.adminURL, note)
    }

    @Test(
        "each field of a configuration survives, the preshared key and its absence included",
        arguments: [1, 2, 3] as [UInt64], [false, true])
    func everyField(seed: UInt64, isEncrypted: Bool) throws {
        var random = SeededNumbers(seed: seed)
        for round in 0..<40 {
            let config = try randomConfig(&random)
            try open(isEncrypted: isEncrypted).saveWireGuardConfig(config)
            let note = Comment(rawValue: "seed \(seed) round \(round)")
            try expectSame(try open(isEncrypted: isEncrypted).loadWireGuardConfig(), config, note)
        }
    }

    @Test("rolling back brings the configuration before the last one")
    func rollBack() throws {
        var random = SeededNumbers(seed: 7)
        let store = try open()
        #expect(try store.rollBackWireGuardConfig() == nil)
        let good = try randomConfig(&random)
        let bad = try randomConfig(&random)
        try store.saveWireGuardConfig(good)
        try store.saveWireGuardConfig(bad)
        try store.saveWireGuardConfig(bad)
        try expectSame(try store.loadPreviousWireGuardConfig(), good, "previous")
        try expectSame(try store.rollBackWireGuardConfig(), good, "rolled back")
        try expectSame(try open().loadWireGuardConfig(), good, "stored")
        #expect(try store.loadPreviousWireGuardConfig() == nil)
    }

    @Test("provisioning key, token and addresses survive", arguments: [false, true])
    func others(isEncrypted: Bool) throws {
        let store = try open(isEncrypted: isEncrypted)
        #expect(try store.loadProvisioningKey() == nil)
        #expect(try store.loadPendingToken() == nil)
        #expect(try store.loadControlAddresses(host: "control.example.net") == [])
        let key = ProvisioningKey(token: "a token", hwid: "a hwid")
        let token = "tökén \"with\" \\ every\n thing"
        let addresses = try ["192.0.2.1", "2001:db8::1"].map { try IPAddress($0) }
        try store.saveProvisioningKey(key)
        try store.savePendingToken(token)
        try store.saveControlAddresses(addresses, host: "Control.example.net")
        let anew = try open(isEncrypted: isEncrypted)
        #expect(try anew.loadProvisioningKey()?.isEqual(to: key) == true)
        #expect(try anew.loadPendingToken() == token)
        #expect(try anew.loadControlAddresses(host: "control.EXAMPLE.net") == addresses)
        #expect(try anew.loadControlAddresses(host: "other.example.net") == [])
        for name in folder.names { #expect(folder.mode(name) == 0o600) }
    }

    @Test("a token is gone without a copy once it is cleared or replaced")
    func tokenGone() throws {
        let store = try open()
        try store.savePendingToken("first")
        try store.savePendingToken("second")
        #expect(folder.names == ["token.json"])
        try store.clearPendingToken()
        #expect(folder.names.isEmpty)
        #expect(try store.loadPendingToken() == nil)
        for wrong in ["", String(repeating: "x", count: 4097)] {
            let error = #expect(throws: AgentError.self) { try store.savePendingToken(wrong) }
            #expect(error?.code == "config-invalid")
        }
    }

    @Test("addresses of a host are replaced, those of other hosts stay, and there is an end to both")
    func addresses() throws {
        let store = try open()
        let first = try IPAddress("192.0.2.1")
        let second = try IPAddress("192.0.2.2")
        try store.saveControlAddresses([first], host: "a")
        try store.saveControlAddresses([second], host: "b")
        try store.saveControlAddresses([second, first], host: "a")
        #expect(try store.loadControlAddresses(host: "a") == [second, first])
        #expect(try store.loadControlAddresses(host: "b") == [second])
        for number in 0..<100 {
            try store.saveControlAddresses(Array(repeating: first, count: 100), host: "host\(number)")
        }
        #expect(try store.loadControlAddresses(host: "host99").count == 16)
    }

    @Test(
        "clearing everything leaves no secret, works without the host key, and keeps hwid, settings and key")
    func clearAll() throws {
        var random = SeededNumbers(seed: 9)
        let store = try open(isEncrypted: true)
        for _ in 1...2 {
            try store.saveWireGuardConfig(try randomConfig(&random))
            try store.saveProvisioningKey(ProvisioningKey(token: "\(random.next())", hwid: ""))
        }
        try store.savePendingToken("token")
        try store.saveControlAddresses([try IPAddress("192.0.2.1")], host: "a")
        try SettingsStore(directory: try StateDirectory(path: folder.path)).saveConfig(AgentConfig())
        try folder.write("hwid", "x")
        rename(keyFolder.path("host.key"), keyFolder.path("lost"))
        #expect(throws: AgentError.self) { try open(isEncrypted: true).loadWireGuardConfig() }
        try open(isEncrypted: true).clearAll()
        #expect(folder.names == ["agent.json", "hwid"])
        #expect(keyFolder.names == ["lost"])
    }

    @Test("an interrupted clearing never leaves a token without the rest", arguments: 0..<10)
    func clearAllInterrupted(position: Int) throws {
        var random = SeededNumbers(seed: 11)
        let store = try open()
        try store.saveWireGuardConfig(try randomConfig(&random))
        try store.savePendingToken("token")
        let faulty = FaultyFileSystem(.stopAfter, at: position)
        do { try SecretStore(directory: openState(folder.path, fileSystem: faulty)).clearAll() } catch {}
        #expect(faulty.hasComeTo)
        let left = try open()
        if try left.loadPendingToken() != nil { #expect(try left.loadWireGuardConfig() != nil) }
    }

    @Test("no error and no log line holds a key, token or identifier, whatever is wrong with the files")
    func showsNothing() throws {
        var random = SeededNumbers(seed: 13)
        let config = try randomConfig(&random)
        let log = RecordingLog()
        let secrets = [config.privateKey.base64, config.deviceID, "the-token", "VGhlLXRva2Vu"]
        var texts: [String] = []
        for damage in 0..<200 {
            let state = try StateDirectory(path: folder.path, log: log)
            let store = SecretStore(directory: state)
            try store.saveWireGuardConfig(config)
            try store.savePendingToken("the-token")
            for name in ["tunnel.json", "token.json"] {
                var bytes = try #require(folder.read(name))
                let start = damage * bytes.count / 200
                bytes.removeSubrange(start..<min(bytes.count, start + 3))
                // With a right digest, so that what is inside gets read.
                let covered = bytes.dropFirst(77)
                let digest = Hexadecimal.text(CryptoManager.sha256(Array(covered)))
                try folder.write(name, Array("{\"sha256\":\"\(digest)\",".utf8) + covered)
            }
            do {
                _ = try store.loadWireGuardConfig()
                _ = try store.loadPendingToken()
            } catch {
                texts.append("\(error) \(String(reflecting: error))")
            }
            texts += state.health.map(\.text)
            try store.clearAll()
        }
        #expect(log.messages.count > 100)
        for text in texts + log.messages {
            for secret in secrets { #expect(!text.contains(secret)) }
        }
    }
}

/// Repeatable random numbers (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
