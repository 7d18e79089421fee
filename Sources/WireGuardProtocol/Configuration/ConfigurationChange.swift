// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// A change to a running device, as one set operation of the userspace interface describes it.
///
/// Absent fields keep what is there. A change is read and checked as a whole before any of it is applied.
package struct ConfigurationChange: Sendable {
    /// What becomes of this host's private key.
    package enum PrivateKeyChange: Sendable {
        /// Take this key.
        case set(PrivateKey)
        /// Have no key; the device then neither starts nor answers handshakes.
        case clear
    }

    /// The private key, if it changes.
    package var privateKey: PrivateKeyChange?
    /// The UDP port, if it changes; 0 lets the system choose.
    package var listenPort: UInt16?
    /// The mark on outgoing datagrams, if it changes; 0 is none.
    package var firewallMark: UInt32?
    /// Whether every peer not in `peers` is removed.
    package var replacesPeers = false
    /// The peers to change, in order; the same public key may come more than once.
    package var peers: [PeerChange] = []

    /// A change of nothing.
    package init() {}
}

/// A change to one peer.
package struct PeerChange: Sendable {
    /// One line of a peer's allowed IPs.
    package struct AllowedIP: Hashable, Sendable {
        /// The prefix.
        package var prefix: IPPrefix
        /// Whether the prefix is taken from the peer (only if it has exactly this one) instead of given to it.
        package var isRemoval: Bool

        /// Creates one line.
        package init(_ prefix: IPPrefix, isRemoval: Bool = false) {
            self.prefix = prefix
            self.isRemoval = isRemoval
        }
    }

    /// The peer.
    package var publicKey: PublicKey
    /// Whether the peer is removed; its other fields then do not matter.
    package var isRemoval = false
    /// Whether nothing happens when the peer does not exist.
    package var isUpdateOnly = false
    /// The preshared key, if it changes; all zero is none.
    package var presharedKey: PresharedKey?
    /// The endpoint, if it changes.
    package var endpoint: SocketAddress?
    /// Seconds between keepalives, if that changes; 0 sends none.
    package var persistentKeepalive: UInt16?
    /// Whether the present allowed IPs go before `allowedIPs` is applied.
    package var replacesAllowedIPs = false
    /// The allowed IPs to give or take, in order.
    package var allowedIPs: [AllowedIP] = []

    /// A change of nothing; a peer that does not exist is created by it.
    package init(publicKey: PublicKey) {
        self.publicKey = publicKey
    }
}
