// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// This host's static key pair and what derives from it once.
///
/// Copies share one block of memory; the private key is erased with the last of them.
package struct LocalIdentity: Sendable {
    /// The owner of the derived values.
    private final class Storage: Sendable {
        let privateKey: PrivateKey
        let handshakeHash: [32 of UInt8]
        let mac1State: BLAKE2s
        let cookieKey: SecretKey

        init(_ privateKey: PrivateKey) {
            self.privateKey = privateKey
            handshakeHash = NoiseConstants.handshakeHash(responder: privateKey.publicKey)
            mac1State = NoiseConstants.mac1State(receiver: privateKey.publicKey)
            cookieKey = NoiseConstants.cookieKey(replier: privateKey.publicKey)
        }
    }

    private let storage: Storage

    /// Derives everything from the private key.
    package init(_ privateKey: PrivateKey) {
        storage = Storage(privateKey)
    }

    /// The static private key.
    package var privateKey: PrivateKey { storage.privateKey }

    /// The static public key.
    package var publicKey: PublicKey { storage.privateKey.publicKey }

    /// The hash that handshakes start from in which this host is the responder.
    var handshakeHash: [32 of UInt8] { storage.handshakeHash }

    /// The keyed state for mac1 of messages to this host.
    var mac1State: BLAKE2s { storage.mac1State }

    /// Calls `body` with the key that encrypts the cookies of this host's replies.
    func withCookieKey<Result>(_ body: (borrowing SecretKey) -> Result) -> Result { body(storage.cookieKey) }

    /// The shared secret of the static private key and a public key, or `nil` when it would be zero.
    func sharedSecret(with publicKey: PublicKey) -> SecretKey? {
        storage.privateKey.withSecret { X25519.sharedSecret($0, publicKey) }
    }
}
