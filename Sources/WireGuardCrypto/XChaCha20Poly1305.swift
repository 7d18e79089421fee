// SPDX-License-Identifier: MIT

internal import CSodium

/// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), which protects the cookie in a cookie reply.
package enum XChaCha20Poly1305 {
    /// The size of a nonce, which is random and therefore long.
    package static let nonceByteCount = 24

    /// Encrypts `plaintext` and appends the tag.
    ///
    /// - Parameters:
    ///   - nonce: 24 bytes.
    ///   - output: `plaintext.byteCount + 16` bytes.
    package static func seal(
        _ plaintext: RawSpan, key: borrowing SecretKey, nonce: RawSpan, associatedData: RawSpan,
        into output: inout MutableRawSpan
    ) {
        precondition(nonce.byteCount == nonceByteCount, "the nonce has 24 bytes")
        precondition(output.byteCount == plaintext.byteCount + 16, "ciphertext and tag must fit exactly")
        unsafe output.withUnsafeMutableBytes { output in
            unsafe plaintext.withUnsafeBytes { plaintext in
                unsafe associatedData.withUnsafeBytes { associatedData in
                    unsafe nonce.withUnsafeBytes { nonce in
                        _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                            bytes(output), nil, bytes(plaintext), UInt64(plaintext.count),
                            bytes(associatedData),
                            UInt64(associatedData.count), nil, bytes(nonce),
                            bytes(key))
                    }
                }
            }
        }
    }

    /// Checks the tag and decrypts; without a valid tag nothing of the plaintext is released.
    ///
    /// - Parameters:
    ///   - nonce: 24 bytes.
    ///   - output: `ciphertextAndTag.byteCount - 16` bytes.
    /// - Returns: Whether the tag was valid.
    package static func open(
        _ ciphertextAndTag: RawSpan, key: borrowing SecretKey, nonce: RawSpan, associatedData: RawSpan,
        into output: inout MutableRawSpan
    ) -> Bool {
        guard ciphertextAndTag.byteCount >= 16 else { return false }
        precondition(nonce.byteCount == nonceByteCount, "the nonce has 24 bytes")
        precondition(output.byteCount == ciphertextAndTag.byteCount - 16, "plaintext must fit exactly")
        return unsafe output.withUnsafeMutableBytes { output in
            unsafe ciphertextAndTag.withUnsafeBytes { ciphertext in
                unsafe associatedData.withUnsafeBytes { associatedData in
                    unsafe nonce.withUnsafeBytes { nonce in
                        unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                            bytes(output), nil, nil, bytes(ciphertext), UInt64(ciphertext.count),
                            bytes(associatedData), UInt64(associatedData.count), bytes(nonce),
                            bytes(key)) == 0
                    }
                }
            }
        }
    }
}
