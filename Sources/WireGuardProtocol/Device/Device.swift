// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// A WireGuard device without sockets, clocks or threads: bytes and instants go in, bytes and deadlines come out.
///
/// Packets go through it in batches, in three steps: `planOutbound`, `PacketBatch.seal`, `commitOutbound`, or
/// `planInbound`, `PacketBatch.open`, `commitInbound`. Nothing else may be called between planning and
/// committing a batch, because a planned packet holds the address of its key.
package struct Device: ~Copyable {
    /// The MTU of the tunnel interface, which bounds the padding.
    package var mtu: Int
    /// How many packets were dropped, by reason.
    package var drops = DropCounters()
    /// The UDP port asked for; 0 lets the system choose.
    package internal(set) var listenPort: UInt16 = 0
    /// The mark on outgoing datagrams; 0 is none.
    package internal(set) var firewallMark: UInt32 = 0
    /// Whether the tunnel interface is up; if not, nothing is sent and no key is kept.
    package internal(set) var isUp = false

    let random: any RandomSource
    let wallClock: @Sendable () -> WallTime
    /// This host's key and what derives from it, if there is one.
    var identity: LocalIdentity?
    var peers = PeerTable()
    var peerNumbers: [PublicKey: UInt32] = [:]
    var allowedIPs = AllowedIPs()
    var indices = IndexTable()
    var deadlines = DeadlineHeap()
    var timestamps = TimestampSource()
    var cookieChecker: CookieChecker
    var rateLimiter = HandshakeRateLimiter()
    var load: LoadDetector
    var isUnderLoad = false
    var jitter: JitterSource
    /// The bytes of all packets that wait for handshakes.
    var stagedByteCount = 0
    /// The port that the socket has, if one is open.
    var boundPort: UInt16 = 0

    /// The most bytes of packets that wait for handshakes, over all peers.
    static let stagedByteLimit = 8 << 20

    /// Creates a device that is down and has neither key nor peers.
    ///
    /// - Parameters:
    ///   - random: Where ephemeral keys, indices, the seed of the jitter and cookie secrets come from.
    ///   - wallClock: Gives wall time, for timestamps of initiations and of completed handshakes only.
    ///   - mtu: The MTU of the tunnel interface.
    ///   - load: Decides when handshake messages must prove their source address.
    package init(
        random: any RandomSource, wallClock: @escaping @Sendable () -> WallTime, mtu: Int,
        load: LoadDetector = LoadDetector()
    ) {
        self.random = random
        self.wallClock = wallClock
        self.mtu = mtu
        self.load = load
        cookieChecker = CookieChecker()
        jitter = JitterSource(seed: random.nextUInt64())
    }

    /// The highest timestamp that an initiation of this device has had, or must exceed.
    ///
    /// Kept over restarts it keeps peers from taking new initiations for replays after the clock went back.
    package var timestampFloor: TAI64N? {
        get { timestamps.floor }
        set { timestamps.floor = newValue }
    }

    /// Notes the port that the socket has; 0 when it is closed.
    package mutating func noteSocketPort(_ port: UInt16) {
        boundPort = port
    }

    /// Forgets which of this host's addresses talks to a peer, because that address no longer works.
    package mutating func clearSource(of number: UInt32) {
        guard peers.contains(number) else { return }
        peers[number].path?.localAddress = nil
        peers[number].path?.interfaceIndex = 0
    }

    /// Forgets which of this host's addresses talk to the peers, because they may be routed otherwise now.
    package mutating func clearSources() {
        for number in peers.numbers { clearSource(of: number) }
    }

    /// Puts a peer's earliest deadline into the heap if it comes before the one that is there.
    ///
    /// A deadline that moved back stays; `nextDeadline` corrects it when it gets to the top.
    mutating func schedule(_ number: UInt32) {
        guard let next = peers[number].timers.next else { return }
        if let scheduled = peers[number].scheduled, scheduled <= next { return }
        peers[number].scheduled = next
        deadlines.set(next, for: number)
    }
}
