// SPDX-License-Identifier: MIT

internal import CGnuTLS
internal import CSodium

/// AES-256-GCM with nonces of 12 bytes and tags of 16, without associated data.
///
/// libsodium has it only for processors with AES instructions; calling it elsewhere ends the process. There GnuTLS
/// does the work.
package enum AESGCM: CaseIterable, Sendable {
    /// libsodium, which needs the processor's AES instructions.
    case sodium
    /// GnuTLS, which works everywhere.
    case gnuTLS

    /// The number of bytes of a nonce.
    package static let nonceByteCount = 12
    /// The number of bytes of a tag.
    package static let tagByteCount = 16

    /// The implementation for this processor.
    package static let best: AESGCM = sodium.isAvailable ? .sodium : .gnuTLS

    /// Whether this implementation works here.
    package var isAvailable: Bool {
        switch self {
        case .sodium:
            Sodium.initialize()
            return crypto_aead_aes256gcm_is_available() == 1
        case .gnuTLS: return true
        }
    }

    /// Encrypts.
    ///
    /// - Parameters:
    ///   - plaintext: Any number of bytes.
    ///   - nonce: 12 bytes that were never used with this key.
    /// - Returns: The ciphertext and, behind it, the tag.
    package func seal(_ plaintext: [UInt8], nonce: [UInt8], key: ProvisioningKey) -> [UInt8] {
        precondition(nonce.count == Self.nonceByteCount, "a nonce has 12 bytes")
        precondition(isAvailable, "this implementation does not work on this processor")
        var sealed = [UInt8](repeating: 0, count: plaintext.count + Self.tagByteCount)
        let isSealed = key.bytes.withUnsafeBytes { key in
            sealed.withUnsafeMutableBytes { sealed in
                plaintext.withUnsafeBytes { plaintext in
                    switch self {
                    case .sodium: Self.sealBySodium(plaintext, nonce, key, into: sealed)
                    case .gnuTLS: Self.sealByGnuTLS(plaintext, nonce, key, into: sealed)
                    }
                }
            }
        }
        guard isSealed else { preconditionFailure("AES-256-GCM failed with valid arguments") }
        return sealed
    }

    /// Decrypts.
    ///
    /// - Parameters:
    ///   - sealed: The ciphertext and, behind it, the tag.
    ///   - nonce: 12 bytes.
    /// - Returns: The plaintext, or `nil` when the tag is not that of this key, nonce and ciphertext.
    package func open(_ sealed: ArraySlice<UInt8>, nonce: [UInt8], key: ProvisioningKey) -> [UInt8]? {
        guard nonce.count == Self.nonceByteCount, sealed.count >= Self.tagByteCount else { return nil }
        precondition(isAvailable, "this implementation does not work on this processor")
        var plaintext = [UInt8](repeating: 0, count: sealed.count - Self.tagByteCount)
        let isAuthentic = key.bytes.withUnsafeBytes { key in
            plaintext.withUnsafeMutableBytes { plaintext in
                sealed.withUnsafeBytes { sealed in
                    switch self {
                    case .sodium: Self.openBySodium(sealed, nonce, key, into: plaintext)
                    case .gnuTLS: Self.openByGnuTLS(sealed, nonce, key, into: plaintext)
                    }
                }
            }
        }
        guard isAuthentic else {
            plaintext.erase()
            return nil
        }
        return plaintext
    }

    // MARK: libsodium

    private static func sealBySodium(
        _ plaintext: UnsafeRawBufferPointer, _ nonce: [UInt8], _ key: UnsafeRawBufferPointer,
        into sealed: UnsafeMutableRawBufferPointer
    ) -> Bool {
        var count: UInt64 = 0
        return crypto_aead_aes256gcm_encrypt(
            Sodium.bytes(sealed), &count, Sodium.bytes(plaintext), UInt64(plaintext.count), nil, 0, nil,
            nonce, Sodium.bytes(key)) == 0 && count == sealed.count
    }

    private static func openBySodium(
        _ sealed: UnsafeRawBufferPointer, _ nonce: [UInt8], _ key: UnsafeRawBufferPointer,
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        var count: UInt64 = 0
        return crypto_aead_aes256gcm_decrypt(
            Sodium.bytes(plaintext), &count, nil, Sodium.bytes(sealed), UInt64(sealed.count), nil, 0, nonce,
            Sodium.bytes(key)) == 0 && count == plaintext.count
    }

    // MARK: GnuTLS

    private static func sealByGnuTLS(
        _ plaintext: UnsafeRawBufferPointer, _ nonce: [UInt8], _ key: UnsafeRawBufferPointer,
        into sealed: UnsafeMutableRawBufferPointer
    ) -> Bool {
        withCipher(key) { cipher in
            var count = sealed.count
            return gnutls_aead_cipher_encrypt(
                cipher, nonce, nonce.count, nil, 0, tagByteCount, Sodium.bytes(plaintext), plaintext.count,
                sealed.baseAddress, &count) == 0 && count == sealed.count
        }
    }

    private static func openByGnuTLS(
        _ sealed: UnsafeRawBufferPointer, _ nonce: [UInt8], _ key: UnsafeRawBufferPointer,
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        withCipher(key) { cipher in
            var count = plaintext.count
            return gnutls_aead_cipher_decrypt(
                cipher, nonce, nonce.count, nil, 0, tagByteCount, Sodium.bytes(sealed), sealed.count,
                Sodium.bytes(plaintext), &count) == 0 && count == plaintext.count
        }
    }

    /// Calls `body` with a cipher that has the key; the cipher erases its copy when it ends.
    private static func withCipher(
        _ key: UnsafeRawBufferPointer, _ body: (gnutls_aead_cipher_hd_t?) -> Bool
    ) -> Bool {
        var cipher: gnutls_aead_cipher_hd_t?
        // GnuTLS only reads the key.
        let bytes = UnsafeMutablePointer(mutating: Sodium.bytes(key))
        var datum = gnutls_datum_t(data: bytes, size: UInt32(key.count))
        guard gnutls_aead_cipher_init(&cipher, GNUTLS_CIPHER_AES_256_GCM, &datum) == 0 else { return false }
        defer { gnutls_aead_cipher_deinit(cipher) }
        return body(cipher)
    }
}
