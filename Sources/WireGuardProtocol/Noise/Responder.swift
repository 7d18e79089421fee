// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// A handshake of which this host received the initiation and has not answered yet.
///
/// The peer is known only after the first step: `read`, look up `initiator`, `readTimestamp`, compare the
/// timestamp with the peer's last one, `respond`. Chaining key and hash are erased with this value.
package struct ResponderHandshake: ~Copyable, Sendable {
    /// The initiator's static public key; not yet authentic before `readTimestamp` succeeded.
    package let initiator: PublicKey
    /// Chaining key and hash after the last step.
    package private(set) var symmetric: SymmetricState
    /// The fields of the initiation.
    private let initiation: HandshakeInitiation
    /// Whether `readTimestamp` succeeded, without which no response may leave.
    private var isAuthentic = false

    /// Decrypts the initiator's static public key (first half of section 5.4.2).
    ///
    /// - Parameter initiation: 148 bytes whose mac1 was checked.
    /// - Returns: `nil` when the message is no initiation, does not decrypt, or brings a public key of low order.
    package static func read(initiation: UnsafeRawBufferPointer, local: LocalIdentity) -> ResponderHandshake?
    {
        guard let initiation = unsafe HandshakeInitiation(initiation),
            let shared = local.sharedSecret(with: initiation.ephemeral)
        else { return nil }
        var symmetric = SymmetricState(hash: local.handshakeHash)
        symmetric.mixEphemeral(initiation.ephemeral)
        let key = symmetric.mixKeyForEncryption(shared)
        var bytes = [32 of UInt8](repeating: 0)
        var span = bytes.mutableSpan
        var output = unsafe span.mutableBytes
        guard unsafe symmetric.decrypt(initiation.encryptedStatic.span.bytes, key: key, into: &output) else {
            return nil
        }
        let initiator = unsafe PublicKey(unchecked: bytes.span.bytes)
        return ResponderHandshake(initiator: initiator, symmetric: symmetric, initiation: initiation)
    }

    /// Keeps what the next steps need.
    private init(initiator: PublicKey, symmetric: consuming SymmetricState, initiation: HandshakeInitiation) {
        self.initiator = initiator
        self.symmetric = symmetric
        self.initiation = initiation
    }

    /// The index by which the initiator wants to be addressed.
    package var initiatorIndex: UInt32 { initiation.senderIndex }

    /// Decrypts the timestamp with the secret of both static keys, which proves who the initiator is.
    ///
    /// - Parameter remote: The peer whose public key is `initiator`.
    /// - Returns: The timestamp; `nil` when it does not decrypt or the peer's key is of low order. The handshake
    ///   is of no more use then.
    package mutating func readTimestamp(remote: borrowing RemoteIdentity) -> TAI64N? {
        precondition(remote.publicKey == initiator, "the timestamp is read with the initiator's identity")
        precondition(!isAuthentic, "the timestamp is read once")
        guard let key = remote.mixStaticStatic(into: &symmetric) else { return nil }
        var bytes = [12 of UInt8](repeating: 0)
        var span = bytes.mutableSpan
        var output = unsafe span.mutableBytes
        guard unsafe symmetric.decrypt(initiation.encryptedTimestamp.span.bytes, key: key, into: &output)
        else {
            return nil
        }
        isAuthentic = true
        return unsafe TAI64N(rawBytes: bytes.span.bytes)
    }

    /// Writes the first 60 bytes of the response and derives the transport keys (sections 5.4.3 and 5.4.5).
    ///
    /// - Parameters:
    ///   - ephemeral: A fresh random key, used for this handshake only.
    ///   - presharedKey: `nil` is the same as 32 zero bytes.
    ///   - message: 92 writable bytes; `MessageMACs` fills the last 32.
    /// - Returns: `nil` when a shared secret would be zero; nothing is written then.
    package consuming func respond(
        ephemeral: consuming SecretKey, senderIndex: UInt32, presharedKey: PresharedKey?,
        into message: UnsafeMutableRawPointer
    ) -> TransportKeys? {
        precondition(isAuthentic, "only an authentic initiation is answered")
        guard let ephemeralShared = X25519.sharedSecret(ephemeral, initiation.ephemeral),
            let staticShared = X25519.sharedSecret(ephemeral, initiator)
        else { return nil }
        let ephemeralPublic = X25519.publicKey(of: ephemeral)
        symmetric.mixEphemeral(ephemeralPublic)
        symmetric.mixKey(ephemeralShared)
        symmetric.mixKey(staticShared)
        let key = symmetric.mixPresharedKey(presharedKey)
        var encryptedNothing = [16 of UInt8](repeating: 0)
        do {
            var span = encryptedNothing.mutableSpan
            var output = unsafe span.mutableBytes
            symmetric.encrypt(RawSpan(), key: key, into: &output)
        }
        let response = HandshakeResponse(
            senderIndex: senderIndex, receiverIndex: initiation.senderIndex, ephemeral: ephemeralPublic,
            encryptedNothing: encryptedNothing)
        unsafe response.writeBody(into: message)
        return symmetric.split(
            isInitiator: false, localIndex: senderIndex, remoteIndex: initiation.senderIndex)
    }
}

extension RemoteIdentity {
    /// Mixes the secret of both static keys into the handshake and gives the key of the timestamp.
    ///
    /// - Returns: `nil`, with the handshake unchanged, when there is no such secret.
    func mixStaticStatic(into symmetric: inout SymmetricState) -> SecretKey? {
        switch staticStatic {
        case .some(let secret): symmetric.mixKeyForEncryption(secret)
        case .none: nil
        }
    }
}
