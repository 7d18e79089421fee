// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// A peer's static public key and what derives from it, and from this host's key, once.
package struct RemoteIdentity: ~Copyable, Sendable {
    /// The peer's static public key.
    package let publicKey: PublicKey
    /// Whether the public key is of low order, so that no handshake with this peer is possible.
    ///
    /// False as long as this host has no private key to find out with.
    package private(set) var isWeak: Bool
    /// The shared secret of both static keys; `nil` without a private key, or when it would be zero.
    private(set) var staticStatic: SecretKey?
    /// The hash that handshakes start from in which the peer is the responder.
    let handshakeHash: [32 of UInt8]
    /// The keyed state for mac1 of messages to the peer.
    let mac1State: BLAKE2s
    /// The key that encrypts the cookies of the peer's replies.
    let cookieKey: SecretKey

    /// Derives everything from the peer's public key and, if there is one, this host's private key.
    package init(publicKey: PublicKey, local: LocalIdentity?) {
        self.publicKey = publicKey
        handshakeHash = NoiseConstants.handshakeHash(responder: publicKey)
        mac1State = NoiseConstants.mac1State(receiver: publicKey)
        cookieKey = NoiseConstants.cookieKey(replier: publicKey)
        staticStatic = nil
        isWeak = false
        recompute(local: local)
    }

    /// Derives the shared secret anew; call when this host's private key changed.
    package mutating func recompute(local: LocalIdentity?) {
        let secret = local?.sharedSecret(with: publicKey)
        switch consume secret {
        case .some(let secret):
            isWeak = false
            staticStatic = consume secret
        case .none:
            isWeak = local != nil
            staticStatic = nil
        }
    }
}
