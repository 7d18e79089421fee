// SPDX-License-Identifier: MIT

internal import CSodium

/// The cryptography of the control interface.
///
/// An envelope is the base64 form (standard alphabet, padded) of a nonce of 12 bytes, the AES-256-GCM ciphertext and
/// its tag of 16 bytes, without associated data.
public enum CryptoManager {
    /// The least bytes of an envelope: the nonce and the tag of no plaintext.
    private static let leastEnvelope = AESGCM.nonceByteCount + AESGCM.tagByteCount
    /// The most characters of an envelope.
    private static let longestEnvelope = 2 * JSONValue.largestDocument

    /// Derives the provisioning key K: SHA-256 over the UTF-8 of `token` and behind it the UTF-8 of `hwid`.
    public static func deriveKey(token: String, hwid: String) -> ProvisioningKey {
        ProvisioningKey(token: token, hwid: hwid)
    }

    /// Opens an envelope.
    ///
    /// - Parameter encoded: Strict base64: no white space, no missing or further padding.
    /// - Returns: The plaintext; the caller erases it.
    /// - Throws: `AgentError.configInvalid` for the field `encrypted_config` when the text is not base64 or too short;
    ///   `.cryptoDecryptionFailed` when it was not sealed under this key or was changed since.
    public static func decrypt(encoded: String, key: ProvisioningKey) throws(AgentError) -> [UInt8] {
        try decrypt(encoded: encoded, key: key, by: .best)
    }

    /// Seals an envelope under a random nonce.
    public static func encrypt(_ plaintext: [UInt8], key: ProvisioningKey) -> String {
        encrypt(plaintext, nonce: Sodium.random(AESGCM.nonceByteCount), key: key, by: .best)
    }

    /// The key of the answers to heartbeats: HMAC-SHA256 under K over `nexusguard/heartbeat-response/v1`.
    ///
    /// - Parameter key: The provisioning key K.
    public static func heartbeatResponseKey(_ key: ProvisioningKey) -> ProvisioningKey {
        derivedKey(key, label: "nexusguard/heartbeat-response/v1")
    }

    /// The key that proves who sends a request: HMAC-SHA256 under K over `nexusguard/heartbeat/v1`.
    static func requestKey(_ key: ProvisioningKey) -> ProvisioningKey {
        derivedKey(key, label: "nexusguard/heartbeat/v1")
    }

    /// The 32 bytes of SHA-256.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        SHA256.digest { $0.update(bytes.span.bytes) }
    }

    /// The 32 bytes of HMAC-SHA256 (RFC 2104), for a key of any size.
    public static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        key.withUnsafeBytes { key in hmac(bytes, key: key).withUnsafeBytes { Array($0) } }
    }

    /// Whether both hold the same bytes, in a time that does not depend on them; their counts are no secret.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && (left.isEmpty || sodium_memcmp(left, right, left.count) == 0)
    }

    /// So many bytes from the system's random source.
    public static func randomBytes(_ count: Int) -> [UInt8] { Sodium.random(count) }

    // MARK: With a choice of implementation

    /// Opens an envelope by one implementation.
    package static func decrypt(
        encoded: String, key: ProvisioningKey, by cipher: AESGCM
    ) throws(AgentError) -> [UInt8] {
        let field = "encrypted_config"
        guard encoded.utf8.count <= longestEnvelope else {
            throw .configInvalid(field: field, reason: "has more than \(longestEnvelope) characters")
        }
        guard let envelope = Base64.bytes(encoded) else {
            throw .configInvalid(field: field, reason: "is not base64")
        }
        guard envelope.count >= leastEnvelope else {
            throw .configInvalid(
                field: field, reason: "has \(envelope.count) bytes, fewer than a nonce and a tag")
        }
        let nonce = Array(envelope[..<AESGCM.nonceByteCount])
        guard let plaintext = cipher.open(envelope[AESGCM.nonceByteCount...], nonce: nonce, key: key) else {
            throw .cryptoDecryptionFailed
        }
        return plaintext
    }

    /// Seals an envelope under a given nonce by one implementation.
    package static func encrypt(
        _ plaintext: [UInt8], nonce: [UInt8], key: ProvisioningKey, by cipher: AESGCM
    ) -> String {
        Base64.text(nonce + cipher.seal(plaintext, nonce: nonce, key: key))
    }

    // MARK: HMAC

    private static func derivedKey(_ key: ProvisioningKey, label: String) -> ProvisioningKey {
        ProvisioningKey(key.bytes.withUnsafeBytes { hmac(Array(label.utf8), key: $0) })
    }

    static func hmac(_ bytes: [UInt8], key: UnsafeRawBufferPointer) -> SecretBytes {
        Sodium.initialize()
        var state = crypto_auth_hmacsha256_state()
        defer { sodium_memzero(&state, MemoryLayout.size(ofValue: state)) }
        crypto_auth_hmacsha256_init(&state, Sodium.bytes(key), key.count)
        crypto_auth_hmacsha256_update(&state, bytes, UInt64(bytes.count))
        return SecretBytes(capacity: 32) { block in
            crypto_auth_hmacsha256_final(&state, Sodium.bytes(block))
            return 32
        }
    }
}
