// SPDX-License-Identifier: MIT

internal import CSodium

/// Diffie-Hellman over Curve25519 (RFC 7748).
package enum X25519 {
    /// Clears and sets the bits that RFC 7748 section 5 fixes in a scalar.
    package static func clamp(_ key: inout SecretKey) {
        let first = unsafe key.pointer.load(fromByteOffset: 0, as: UInt8.self) & 248
        let last = unsafe key.pointer.load(fromByteOffset: 31, as: UInt8.self) & 127 | 64
        unsafe key.pointer.storeBytes(of: first, toByteOffset: 0, as: UInt8.self)
        unsafe key.pointer.storeBytes(of: last, toByteOffset: 31, as: UInt8.self)
    }

    /// The public key of a private key.
    package static func publicKey(of key: borrowing SecretKey) -> PublicKey {
        var output = [32 of UInt8](repeating: 0)
        unsafe withUnsafeMutableBytes(of: &output) { target in
            _ = unsafe crypto_scalarmult_curve25519_base(bytes(target), bytes(key))
        }
        return unsafe PublicKey(unchecked: output.span.bytes)
    }

    /// The shared secret of a private and a public key, or `nil` when it would be all zero.
    ///
    /// A low-order public key gives zero whatever the private key is; the handshake must not go on with it.
    package static func sharedSecret(
        _ privateKey: borrowing SecretKey, _ publicKey: PublicKey
    ) -> SecretKey? {
        let output = SecretKey()
        let status = publicKey.withBytes { point in
            unsafe point.withUnsafeBytes { point in
                unsafe crypto_scalarmult_curve25519(
                    bytes(output), bytes(privateKey), bytes(point))
            }
        }
        guard status == 0, !output.isZero else { return nil }
        return output
    }
}
