// SPDX-License-Identifier: MIT

internal import CSodium

/// ChaCha20-Poly1305 (RFC 8439) with a 64-bit counter as nonce, for the fields of handshake messages.
///
/// Transport data goes through `PacketAEAD`, which seals and opens a batch of packets.
package enum ChaCha20Poly1305 {
    /// The bytes that sealing adds.
    package static let tagByteCount = 16

    /// Encrypts `plaintext` and appends the tag.
    ///
    /// - Parameter output: `plaintext.byteCount + 16` bytes.
    package static func seal(
        _ plaintext: RawSpan, key: borrowing SecretKey, counter: UInt64, associatedData: RawSpan,
        into output: inout MutableRawSpan
    ) {
        precondition(
            output.byteCount == plaintext.byteCount + tagByteCount, "ciphertext and tag must fit exactly")
        let nonce = nonceWords(counter)
        unsafe output.withUnsafeMutableBytes { output in
            unsafe plaintext.withUnsafeBytes { plaintext in
                unsafe associatedData.withUnsafeBytes { associatedData in
                    unsafe withUnsafeBytes(of: nonce) { nonce in
                        _ = unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
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
    /// - Parameter output: `ciphertextAndTag.byteCount - 16` bytes.
    /// - Returns: Whether the tag was valid.
    package static func open(
        _ ciphertextAndTag: RawSpan, key: borrowing SecretKey, counter: UInt64, associatedData: RawSpan,
        into output: inout MutableRawSpan
    ) -> Bool {
        guard ciphertextAndTag.byteCount >= tagByteCount else { return false }
        precondition(
            output.byteCount == ciphertextAndTag.byteCount - tagByteCount, "plaintext must fit exactly")
        let nonce = nonceWords(counter)
        return unsafe output.withUnsafeMutableBytes { output in
            unsafe ciphertextAndTag.withUnsafeBytes { ciphertext in
                unsafe associatedData.withUnsafeBytes { associatedData in
                    unsafe withUnsafeBytes(of: nonce) { nonce in
                        unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
                            bytes(output), nil, nil, bytes(ciphertext), UInt64(ciphertext.count),
                            bytes(associatedData), UInt64(associatedData.count), bytes(nonce),
                            bytes(key)) == 0
                    }
                }
            }
        }
    }

    /// The nonce of the WireGuard paper: four zero bytes and the counter, little-endian.
    @inline(__always)
    static func nonceWords(_ counter: UInt64) -> [3 of UInt32] {
        [
            0, UInt32(truncatingIfNeeded: counter).littleEndian,
            UInt32(truncatingIfNeeded: counter >> 32).littleEndian,
        ]
    }
}
