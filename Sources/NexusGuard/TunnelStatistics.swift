// SPDX-License-Identifier: MIT

public import WireGuardCrypto
public import WireGuardProtocol

/// What a tunnel did so far.
public struct TunnelStatistics: Hashable, Sendable {
    /// What one peer did so far.
    public struct Peer: Hashable, Sendable {
        /// Where the peer's datagrams go now, if that is known.
        public var endpoint: SocketAddress?
        /// Wall time of the last completed handshake as time since 1970, or `nil` before the first.
        public var latestHandshake: Duration?
        /// Bytes of datagrams received from the peer and authenticated.
        public var receivedByteCount: UInt64
        /// Bytes of datagrams sent to the peer.
        public var sentByteCount: UInt64
    }

    /// The UDP port in use; 0 when none is.
    public var listenPort: UInt16 = 0
    /// The peers by public key.
    public var peers: [PublicKey: Peer] = [:]
    /// Packets that went no further, by reason.
    public var drops = DropCounters()

    /// The sum of what was received from all peers, in bytes.
    public var receivedByteCount: UInt64 { peers.values.reduce(0) { $0 &+ $1.receivedByteCount } }
    /// The sum of what was sent to all peers, in bytes.
    public var sentByteCount: UInt64 { peers.values.reduce(0) { $0 &+ $1.sentByteCount } }

    /// Statistics of a tunnel that does not run.
    init() {}

    /// What a snapshot of the device says.
    init(_ snapshot: DeviceSnapshot, drops: DropCounters) {
        listenPort = snapshot.listenPort
        self.drops = drops
        peers.reserveCapacity(snapshot.peers.count)
        for peer in snapshot.peers {
            let time = peer.latestHandshake
            let handshake: Duration = .seconds(time.seconds) + .nanoseconds(Int64(time.nanoseconds))
            peers[peer.publicKey] = Peer(
                endpoint: peer.endpoint, latestHandshake: handshake == .zero ? nil : handshake,
                receivedByteCount: peer.receivedByteCount, sentByteCount: peer.sentByteCount)
        }
    }
}
