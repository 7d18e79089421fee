// SPDX-License-Identifier: MIT

public import WireGuardCrypto

/// What a tunnel is: its own key, and its peers.
public struct TunnelConfiguration: Sendable {
    /// This host's private key.
    public var privateKey: PrivateKey
    /// The UDP port to listen on; 0 lets the system choose.
    public var listenPort: UInt16
    /// The mark on outgoing datagrams for policy routing; 0 is none.
    public var firewallMark: UInt32
    /// The peers, in the order given; no public key twice.
    public var peers: [PeerConfiguration]

    /// Creates a configuration.
    public init(
        privateKey: PrivateKey, listenPort: UInt16 = 0, firewallMark: UInt32 = 0,
        peers: [PeerConfiguration] = []
    ) {
        self.privateKey = privateKey
        self.listenPort = listenPort
        self.firewallMark = firewallMark
        self.peers = peers
    }
}

/// One peer of a tunnel.
public struct PeerConfiguration: Sendable {
    /// Who the peer is.
    public var publicKey: PublicKey
    /// The key shared with this peer alone, if there is one.
    public var presharedKey: PresharedKey?
    /// The addresses that the peer may send from and that are sent to it.
    public var allowedIPs: [IPPrefix]
    /// Where the peer is reached; without one this host waits for the peer to start.
    public var endpoint: Endpoint?
    /// Seconds between keepalives that hold a NAT mapping open; 0 sends none.
    public var persistentKeepalive: UInt16

    /// Creates a peer.
    public init(
        publicKey: PublicKey, presharedKey: PresharedKey? = nil, allowedIPs: [IPPrefix] = [],
        endpoint: Endpoint? = nil, persistentKeepalive: UInt16 = 0
    ) {
        self.publicKey = publicKey
        self.presharedKey = presharedKey
        self.allowedIPs = allowedIPs
        self.endpoint = endpoint
        self.persistentKeepalive = persistentKeepalive
    }
}
