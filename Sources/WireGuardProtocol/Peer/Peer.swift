// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

/// All that a device knows about one peer.
struct Peer: ~Copyable {
    /// The peer's static key and what derives from it.
    var remote: RemoteIdentity
    /// The key shared with this peer alone, if there is one.
    var presharedKey: PresharedKey?
    /// Where the peer's datagrams go, once known.
    var path: DatagramPath?
    /// Seconds between keepalives; 0 is none.
    var persistentKeepalive: UInt16 = 0

    /// The handshake that this host started and that waits for its response.
    var handshake: InitiatorHandshake?
    /// The transport keys.
    var keypairs = Keypairs()
    /// The deadlines.
    var timers = PeerTimers()
    /// Where the peer stands in the device's heap of deadlines, if it does.
    var scheduled: Instant?
    /// The packets that wait for keys.
    var staged = StagedPackets()
    /// The cookie that the peer gave, and the last mac1 sent.
    var cookies = CookieJar()

    /// When the last initiation or response was sent.
    var lastHandshakeSent: Instant?
    /// When the last initiation of the peer was accepted.
    var lastInitiationAccepted: Instant?
    /// The timestamp of the last accepted initiation of the peer.
    var latestTimestamp: TAI64N?
    /// Whether receiving on an old keypair has asked for a new one already.
    var askedForRekeyOnReceive = false
    /// When the owner was last told that the peer's clock seems to be behind.
    var lastClockBehind: Instant?
    /// Whether the owner was told that the peer's key is of low order.
    var toldWeakKey = false

    /// Wall time of the last completed handshake; zero before the first.
    var latestHandshake = WallTime(seconds: 0, nanoseconds: 0)
    /// Bytes of authenticated datagrams received.
    var receivedByteCount: UInt64 = 0
    /// Bytes of datagrams sent.
    var sentByteCount: UInt64 = 0

    /// A peer that has done nothing yet.
    init(remote: consuming RemoteIdentity) {
        self.remote = remote
    }

    /// The peer's public key.
    var publicKey: PublicKey { remote.publicKey }

    /// The keypair to send on, if there is one that may be used now.
    func sendingKeypair(at now: Instant) -> UnsafeMutablePointer<Keypair>? {
        guard let keypair = unsafe keypairs.current, unsafe keypair.pointee.canSend(at: now) else {
            return nil
        }
        return unsafe keypair
    }

    /// Writes mac1 and mac2 behind the body of a handshake message to this peer.
    mutating func writeMACs(_ message: UnsafeMutableRawPointer, bodyByteCount: Int, at now: Instant) {
        unsafe MessageMACs.write(
            message, bodyByteCount: bodyByteCount, remote: remote, cookies: &cookies, at: now)
    }

    /// Keeps the cookie of a reply, if the reply is authentic.
    mutating func consumeCookieReply(_ reply: UnsafeRawBufferPointer, at now: Instant) -> Bool {
        unsafe cookies.consume(reply, remote: remote, at: now)
    }
}
