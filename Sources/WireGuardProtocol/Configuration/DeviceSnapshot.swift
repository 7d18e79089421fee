// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// What a device is at one instant: its configuration, and what its peers did.
package struct DeviceSnapshot: Sendable {
    /// This host's key, if it has one.
    package var privateKey: PrivateKey?
    /// The UDP port in use, or the one asked for while no socket is open; 0 when neither is known.
    package var listenPort: UInt16
    /// The mark on outgoing datagrams; 0 is none.
    package var firewallMark: UInt32
    /// The peers in the order in which they were added.
    package var peers: [PeerSnapshot]

    /// Creates a snapshot.
    package init(
        privateKey: PrivateKey? = nil, listenPort: UInt16 = 0, firewallMark: UInt32 = 0,
        peers: [PeerSnapshot] = []
    ) {
        self.privateKey = privateKey
        self.listenPort = listenPort
        self.firewallMark = firewallMark
        self.peers = peers
    }
}

/// What a peer is at one instant.
package struct PeerSnapshot: Sendable {
    /// The peer.
    package var publicKey: PublicKey
    /// The key shared with this peer alone, if there is one.
    package var presharedKey: PresharedKey?
    /// Where the peer's datagrams go now.
    package var endpoint: SocketAddress?
    /// Seconds between keepalives; 0 is none.
    package var persistentKeepalive: UInt16 = 0
    /// The allowed IPs, IPv4 before IPv6, each family in ascending order.
    package var allowedIPs: [IPPrefix] = []
    /// Wall time of the last completed handshake, as seconds and nanoseconds since 1970; zero before the first.
    package var latestHandshake = WallTime(seconds: 0, nanoseconds: 0)
    /// Bytes of datagrams received from this peer and authenticated.
    package var receivedByteCount: UInt64 = 0
    /// Bytes of datagrams sent to this peer.
    package var sentByteCount: UInt64 = 0

    /// Creates a snapshot of a peer that has done nothing yet.
    package init(publicKey: PublicKey) {
        self.publicKey = publicKey
    }
}
