// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// Chaining key and hash of one handshake (C and H of section 5.4), both erased with this value.
package struct SymmetricState: ~Copyable, Sendable {
    /// The chaining key, 32 bytes.
    package private(set) var chainingKey: SecretKey
    /// The hash of what was exchanged so far, 32 bytes; the preshared key goes into it, so it is a secret.
    package private(set) var hash: SecretKey

    /// Starts a handshake.
    ///
    /// - Parameter hash: The hash after the responder's static public key, see `NoiseConstants.handshakeHash`.
    init(hash: [32 of UInt8]) {
        chainingKey = unsafe SecretKey(copying: NoiseConstants.initialChainingKey.span.bytes)
        self.hash = unsafe SecretKey(copying: hash.span.bytes)
    }

    /// Copies another state, for an attempt that must leave the original as it is.
    init(copying other: borrowing SymmetricState) {
        chainingKey = SecretKey(copying: other.chainingKey)
        hash = SecretKey(copying: other.hash)
    }

    /// H := Hash(H || bytes).
    mutating func mixHash(_ bytes: RawSpan) {
        var state = BLAKE2s()
        hash.withBytes { state.update($0) }
        state.update(bytes)
        hash.withMutableBytes { state.finalize(into: &$0) }
    }

    /// Mixes an ephemeral public key into chaining key (Kdf1) and hash.
    mutating func mixEphemeral(_ key: PublicKey) {
        key.withBytes { bytes in
            NoiseKDF.derive(bytes, updating: &chainingKey)
            mixHash(bytes)
        }
    }

    /// C := Kdf1(C, secret).
    mutating func mixKey(_ secret: borrowing SecretKey) {
        secret.withBytes { NoiseKDF.derive($0, updating: &chainingKey) }
    }

    /// (C, key) := Kdf2(C, secret).
    mutating func mixKeyForEncryption(_ secret: borrowing SecretKey) -> SecretKey {
        secret.withBytes { NoiseKDF.deriveKey($0, updating: &chainingKey) }
    }

    /// (C, tau, key) := Kdf3(C, preshared key) and H := Hash(H || tau); without a preshared key it is zero.
    mutating func mixPresharedKey(_ presharedKey: PresharedKey?) -> SecretKey {
        var tau = SecretKey()
        let key =
            if let presharedKey {
                presharedKey.withSecret { secret in
                    secret.withBytes { NoiseKDF.deriveKey($0, updating: &chainingKey, second: &tau) }
                }
            } else {
                SecretKey().withBytes { NoiseKDF.deriveKey($0, updating: &chainingKey, second: &tau) }
            }
        tau.withBytes { mixHash($0) }
        return key
    }

    /// Encrypts with counter 0 and the hash as associated data, then mixes the ciphertext into the hash.
    ///
    /// - Parameter output: `plaintext.byteCount + 16` bytes.
    mutating func encrypt(_ plaintext: RawSpan, key: borrowing SecretKey, into output: inout MutableRawSpan) {
        hash.withBytes {
            ChaCha20Poly1305.seal(plaintext, key: key, counter: 0, associatedData: $0, into: &output)
        }
        mixHash(output.bytes)
    }

    /// Decrypts what `encrypt` made and mixes the ciphertext into the hash.
    ///
    /// - Returns: Whether the tag was valid; if not, the hash is as before.
    mutating func decrypt(
        _ ciphertext: RawSpan, key: borrowing SecretKey, into output: inout MutableRawSpan
    ) -> Bool {
        let isAuthentic = hash.withBytes {
            ChaCha20Poly1305.open(ciphertext, key: key, counter: 0, associatedData: $0, into: &output)
        }
        guard isAuthentic else { return false }
        mixHash(ciphertext)
        return true
    }

    /// Derives the two transport keys from the final chaining key (section 5.4.5) and erases the state.
    ///
    /// The initiator sends with the first key and the responder with the second.
    consuming func split(isInitiator: Bool, localIndex: UInt32, remoteIndex: UInt32) -> TransportKeys {
        let second = NoiseKDF.deriveKey(RawSpan(), updating: &chainingKey)
        let first = SecretKey(copying: chainingKey)
        return isInitiator
            ? TransportKeys(
                sendKey: first, receiveKey: second, localIndex: localIndex, remoteIndex: remoteIndex)
            : TransportKeys(
                sendKey: second, receiveKey: first, localIndex: localIndex, remoteIndex: remoteIndex)
    }
}
