// SPDX-License-Identifier: MIT

import AgentCore
import AgentStore
import Glibc
import NexusGuard
import Testing

@Suite("secrets in memory")
struct MemoryScanTests {
    let folder: TemporaryDirectory
    let keyFolder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        keyFolder = try TemporaryDirectory()
    }

    @Test("a text that is in memory is found there")
    func control() throws {
        let marker = (0..<32).map { _ in UInt8.random(in: 0x61...0x7A) }
        #expect(try ProcessMemory.count(ofInverted: marker.map { ~$0 }) >= 1)
        #expect(marker.count == 32)
    }

    @Test(
        "of what was saved and loaded no copy stays in memory, neither as it is nor as it is stored",
        arguments: [false, true])
    func nothingStays(isEncrypted: Bool) throws {
        let tunnelKey = invertedSecret()
        let provisioningKey = invertedSecret()
        try save(tunnelKey, provisioningKey, isEncrypted: isEncrypted)
        try expectNothing(of: [tunnelKey, provisioningKey])
        try load(tunnelKey, provisioningKey, isEncrypted: isEncrypted)
        try expectNothing(of: [tunnelKey, provisioningKey])
    }

    private func expectNothing(of secrets: [[UInt8]]) throws {
        for secret in secrets {
            #expect(try ProcessMemory.count(ofInverted: secret) == 0)
            #expect(try ProcessMemory.count(ofInverted: invertedHexadecimal(secret)) == 0)
        }
    }

    private func store(isEncrypted: Bool) throws -> SecretStore {
        SecretStore(
            directory: try StateDirectory(
                path: folder.path, hostKeyFile: isEncrypted ? keyFolder.path("host.key") : nil))
    }

    /// A function of its own, so that what it holds is gone with it.
    private func save(_ tunnelKey: [UInt8], _ provisioningKey: [UInt8], isEncrypted: Bool) throws {
        let store = try store(isEncrypted: isEncrypted)
        try withSecret(provisioningKey) { secret in
            try store.saveProvisioningKey(try ProvisioningKey(rawRepresentation: secret.bytes))
        }
        try withSecret(tunnelKey) { secret in
            try store.saveWireGuardConfig(
                WireGuardConfig(
                    deviceID: "device", privateKey: try PrivateKey(rawRepresentation: secret.bytes),
                    addresses: [try InterfaceAddress("10.0.0.2")], serverPublicKey: PrivateKey().publicKey,
                    endpoint: try Endpoint("192.0.2.1:51820"), allowedIPs: [try IPPrefix("0.0.0.0/0")]))
        }
    }

    private func load(_ tunnelKey: [UInt8], _ provisioningKey: [UInt8], isEncrypted: Bool) throws {
        let store = try store(isEncrypted: isEncrypted)
        let config = try #require(try store.loadWireGuardConfig())
        try withSecret(tunnelKey) { secret in
            let expected = try PrivateKey(rawRepresentation: secret.bytes)
            #expect(config.privateKey.isEqual(to: expected))
        }
        let key = try #require(try store.loadProvisioningKey())
        try withSecret(provisioningKey) { secret in
            let expected = try ProvisioningKey(rawRepresentation: secret.bytes)
            #expect(key.isEqual(to: expected))
        }
    }

    /// 32 random bytes that are a private key as they are, each bit inverted.
    private func invertedSecret() -> [UInt8] {
        var inverted = (0..<32).map { _ in UInt8.random(in: 0...255) }
        // RFC 7748 section 5 clears the lowest three bits and sets the second highest.
        inverted[0] |= 7
        inverted[31] = inverted[31] & 0xBF | 0x80
        return inverted
    }

    private func withSecret(_ inverted: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: inverted.count, alignment: 16)
        defer {
            if let start = block.baseAddress { explicit_bzero(start, block.count) }
            block.deallocate()
        }
        for index in inverted.indices { block[index] = ~inverted[index] }
        try body(UnsafeRawBufferPointer(block))
    }

    private func invertedHexadecimal(_ inverted: [UInt8]) -> [UInt8] {
        let digits = "0123456789abcdef".utf8.map { ~$0 }
        return inverted.flatMap { [digits[Int(~$0 >> 4)], digits[Int(~$0 & 15)]] }
    }
}
