// SPDX-License-Identifier: MIT

internal import CSodium
internal import NexusGuard

/// A configuration to take away: without secrets, or encrypted under a passphrase.
///
/// The encrypted form is a JSON object whose member `nexusguard_export` is its version. The key comes from the
/// passphrase by Argon2id; configuration and header are sealed with XChaCha20-Poly1305.
public enum WireGuardConfigExport {
    /// The least bytes of a passphrase for a new export.
    public static let shortestPassphrase = 8
    /// The most bytes of a passphrase.
    public static let longestPassphrase = 1024

    private static let version = 1
    private static let marker = "nexusguard_export"
    private static let kdf = "argon2id13"
    private static let nonceByteCount = 24
    private static let tagByteCount = 16

    /// How much work it is to try a passphrase.
    package struct Cost: Hashable, Sendable {
        /// The passes over the memory.
        package var operations: Int
        /// The memory in KiB.
        package var memory: Int

        /// Creates a cost.
        package init(operations: Int, memory: Int) {
            self.operations = operations
            self.memory = memory
        }

        /// Three passes over 64 MiB.
        package static let standard = Cost(operations: 3, memory: 65_536)
        /// What a text from outside can ask for.
        static let operations = 1...16
        static let memory = 8...262_144
    }

    /// The configuration as JSON without its keys and with the device masked.
    public static func redacted(_ config: WireGuardConfig) -> [UInt8] {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.member("redacted", true)
        writer.member("device_id", DeviceIDMask.mask(config.deviceID))
        writer.member("internal_ip", config.addresses.map(\.description).joined(separator: ", "))
        writer.member("has_preshared_key", config.presharedKey != nil)
        writer.member("public_key", config.privateKey.publicKey.base64)
        writer.member("server_pub", config.serverPublicKey.base64)
        WireGuardConfigCodec.writeOpenFields(config, to: &writer)
        writer.endObject()
        return writer.finish()
    }

    /// The whole configuration, encrypted; `WireGuardConfigImport` reads it.
    ///
    /// Takes 64 MiB of memory for a moment.
    ///
    /// - Parameter passphrase: 8 to 1024 bytes.
    /// - Throws: `AgentError.configInvalid` for the field `passphrase` when it is too short or too long, or when there
    ///   is not enough memory.
    public static func encrypted(
        _ config: WireGuardConfig, passphrase: [UInt8]
    ) throws(AgentError) -> [UInt8] {
        try encrypted(config, passphrase: passphrase, cost: .standard)
    }

    /// Whether a text is an encrypted export, so that a passphrase must be asked for.
    public static func isEncrypted(_ text: [UInt8]) -> Bool {
        let limit = WireGuardConfigImport.largestText
        guard let fields = try? JSONFields(parsing: text, limit: limit) else { return false }
        return (try? isEncrypted(fields)) == true
    }

    /// Encrypts at a given cost.
    package static func encrypted(
        _ config: WireGuardConfig, passphrase: [UInt8], cost: Cost
    ) throws(AgentError) -> [UInt8] {
        guard passphrase.count >= shortestPassphrase else {
            throw .configInvalid(
                field: "passphrase", reason: "has fewer than \(shortestPassphrase) bytes")
        }
        let salt = Sodium.random(Int(crypto_pwhash_SALTBYTES))
        let nonce = Sodium.random(nonceByteCount)
        let key = try key(passphrase, salt: salt, cost: cost)
        var plaintext = WireGuardConfigCodec.serialise(config)
        defer { plaintext.erase() }
        let header = header(salt: salt, cost: cost)
        var sealed = [UInt8](repeating: 0, count: plaintext.count + tagByteCount)
        let status = key.withUnsafeBytes { key in
            crypto_aead_xchacha20poly1305_ietf_encrypt(
                &sealed, nil, plaintext, UInt64(plaintext.count), header, UInt64(header.count), nil, nonce,
                Sodium.bytes(key))
        }
        guard status == 0 else { preconditionFailure("XChaCha20-Poly1305 failed with valid arguments") }
        var writer = JSONWriter(capacity: 512 + 2 * sealed.count)
        writer.beginObject()
        writer.member(marker, version)
        writer.member("kdf", kdf)
        writer.member("operations", cost.operations)
        writer.member("memory_kib", cost.memory)
        writer.member("salt", Base64.text(salt))
        writer.member("nonce", Base64.text(nonce))
        writer.member("data", Base64.text(sealed))
        writer.endObject()
        return writer.finish()
    }

    /// Whether an object is an encrypted export.
    static func isEncrypted(_ fields: JSONFields) throws(AgentError) -> Bool {
        try fields.value(marker) != nil
    }

    /// Opens an encrypted export and gives the JSON form of the configuration, which the caller erases.
    static func open(_ fields: JSONFields, passphrase: [UInt8]) throws(AgentError) -> [UInt8] {
        let version = try fields.required(marker, fields.integer(marker, in: 1...Int(Int32.max)))
        guard version <= Self.version else {
            throw fields.invalid(marker, "is version \(version), newer than \(Self.version)")
        }
        guard try fields.text("kdf", limit: 32) == kdf else { throw fields.invalid("kdf", "is not \(kdf)") }
        let cost = Cost(
            operations: try fields.required(
                "operations", fields.integer("operations", in: Cost.operations)),
            memory: try fields.required("memory_kib", fields.integer("memory_kib", in: Cost.memory)))
        let saltCount = Int(crypto_pwhash_SALTBYTES)
        let salt = try bytes("salt", of: fields, in: saltCount...saltCount)
        let nonce = try bytes("nonce", of: fields, in: nonceByteCount...nonceByteCount)
        let sealed = try bytes("data", of: fields, in: tagByteCount...WireGuardConfigImport.largestText)
        let key = try key(passphrase, salt: salt, cost: cost)
        let header = header(salt: salt, cost: cost)
        var plaintext = [UInt8](repeating: 0, count: sealed.count - tagByteCount)
        let status = key.withUnsafeBytes { key in
            plaintext.withUnsafeMutableBytes { plaintext in
                crypto_aead_xchacha20poly1305_ietf_decrypt(
                    Sodium.bytes(plaintext), nil, nil, sealed, UInt64(sealed.count), header,
                    UInt64(header.count), nonce, Sodium.bytes(key))
            }
        }
        guard status == 0 else {
            throw .configInvalid(field: "passphrase", reason: "is wrong, or the export was changed")
        }
        return plaintext
    }

    private static func bytes(
        _ name: String, of fields: JSONFields, in counts: ClosedRange<Int>
    ) throws(AgentError) -> [UInt8] {
        let text = try fields.required(name, fields.text(name, limit: 2 * counts.upperBound))
        guard let bytes = Base64.bytes(text) else { throw fields.invalid(name, "is not base64") }
        guard counts.contains(bytes.count) else { throw fields.invalid(name, "has \(bytes.count) bytes") }
        return bytes
    }

    /// What the seal covers besides the configuration.
    private static func header(salt: [UInt8], cost: Cost) -> [UInt8] {
        Array("nexusguard-export/v1\n\(kdf)\n\(cost.operations)\n\(cost.memory)\n".utf8) + salt
    }

    private static func key(
        _ passphrase: [UInt8], salt: [UInt8], cost: Cost
    ) throws(AgentError) -> SecretBytes {
        guard !passphrase.isEmpty else { throw .configInvalid(field: "passphrase", reason: "is empty") }
        guard passphrase.count <= longestPassphrase else {
            throw .configInvalid(field: "passphrase", reason: "has more than \(longestPassphrase) bytes")
        }
        var isDone = false
        let key = SecretBytes(capacity: 32) { block in
            isDone = passphrase.withUnsafeBytes { passphrase in
                crypto_pwhash(
                    Sodium.bytes(block), UInt64(block.count),
                    UnsafeRawPointer(Sodium.bytes(passphrase)).assumingMemoryBound(to: CChar.self),
                    UInt64(passphrase.count), salt, UInt64(cost.operations), cost.memory * 1024,
                    crypto_pwhash_ALG_ARGON2ID13) == 0
            }
            return block.count
        }
        guard isDone else {
            throw .configInvalid(
                field: "passphrase", reason: "needs \(cost.memory / 1024) MiB of memory to be tried")
        }
        return key
    }
}
