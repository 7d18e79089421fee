// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// A handshake of which this host sent the initiation and waits for the response.
///
/// Ephemeral key, chaining key and hash are erased with this value.
package struct InitiatorHandshake: ~Copyable, Sendable {
    /// The index by which the responder addresses this host.
    package let senderIndex: UInt32
    /// Chaining key and hash after the initiation.
    package let symmetric: SymmetricState
    /// The ephemeral private key.
    private let ephemeral: SecretKey

    /// Starts a handshake and writes the first 116 bytes of its initiation (section 5.4.2).
    ///
    /// - Parameters:
    ///   - ephemeral: A fresh random key, used for this handshake only.
    ///   - timestamp: Larger than every one this host sent before.
    ///   - message: 148 writable bytes; `MessageMACs` fills the last 32.
    /// - Returns: `nil` when the peer's key is of low order or this host's shared secret with it is missing;
    ///   nothing is written then.
    package static func begin(
        local: LocalIdentity, remote: borrowing RemoteIdentity, ephemeral: consuming SecretKey,
        senderIndex: UInt32,
        timestamp: TAI64N, into message: UnsafeMutableRawPointer
    ) -> InitiatorHandshake? {
        guard remote.staticStatic != nil, let shared = X25519.sharedSecret(ephemeral, remote.publicKey) else {
            return nil
        }
        let ephemeralPublic = X25519.publicKey(of: ephemeral)
        var symmetric = SymmetricState(hash: remote.handshakeHash)
        symmetric.mixEphemeral(ephemeralPublic)

        var encryptedStatic = [48 of UInt8](repeating: 0)
        let staticKey = symmetric.mixKeyForEncryption(shared)
        local.publicKey.withBytes { publicKey in
            var span = encryptedStatic.mutableSpan
            var output = unsafe span.mutableBytes
            symmetric.encrypt(publicKey, key: staticKey, into: &output)
        }

        var encryptedTimestamp = [28 of UInt8](repeating: 0)
        guard let timestampKey = remote.mixStaticStatic(into: &symmetric) else { return nil }
        timestamp.withBytes { bytes in
            var span = encryptedTimestamp.mutableSpan
            var output = unsafe span.mutableBytes
            symmetric.encrypt(bytes, key: timestampKey, into: &output)
        }

        let initiation = HandshakeInitiation(
            senderIndex: senderIndex, ephemeral: ephemeralPublic, encryptedStatic: encryptedStatic,
            encryptedTimestamp: encryptedTimestamp)
        unsafe initiation.writeBody(into: message)
        return InitiatorHandshake(senderIndex: senderIndex, symmetric: symmetric, ephemeral: ephemeral)
    }

    /// Keeps what the response needs.
    private init(senderIndex: UInt32, symmetric: consuming SymmetricState, ephemeral: consuming SecretKey) {
        self.senderIndex = senderIndex
        self.symmetric = symmetric
        self.ephemeral = ephemeral
    }

    /// Checks a response and derives the transport keys (sections 5.4.3 and 5.4.5).
    ///
    /// A refused response leaves the handshake as it was, so that the true one can still come. After success
    /// the caller drops this value: one initiation makes one keypair.
    ///
    /// - Parameters:
    ///   - response: 92 bytes whose mac1 was checked.
    ///   - presharedKey: `nil` is the same as 32 zero bytes.
    /// - Returns: The keys, or `nil` when the response answers another message, does not decrypt, or brings a
    ///   public key of low order.
    package borrowing func complete(
        response: UnsafeRawBufferPointer, local: LocalIdentity, presharedKey: PresharedKey?
    ) -> TransportKeys? {
        guard let response = unsafe HandshakeResponse(response), response.receiverIndex == senderIndex,
            let ephemeralShared = X25519.sharedSecret(ephemeral, response.ephemeral),
            let staticShared = local.sharedSecret(with: response.ephemeral)
        else { return nil }
        var attempt = SymmetricState(copying: symmetric)
        attempt.mixEphemeral(response.ephemeral)
        attempt.mixKey(ephemeralShared)
        attempt.mixKey(staticShared)
        let key = attempt.mixPresharedKey(presharedKey)
        var nothing = MutableRawSpan()
        guard unsafe attempt.decrypt(response.encryptedNothing.span.bytes, key: key, into: &nothing) else {
            return nil
        }
        return attempt.split(isInitiator: true, localIndex: senderIndex, remoteIndex: response.senderIndex)
    }
}
