// SPDX-License-Identifier: MIT

internal import NexusGuard
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

/// One of the two devices between which the benchmarks send packets, and all that it needs to do so.
struct EngineEnd: ~Copyable {
    /// Whether this is the end that starts handshakes; the ends have the addresses 10.0.0.1 and 10.0.0.2.
    let isFirst: Bool
    var device: Device
    var outbox = Outbox()
    /// The packets on their way out.
    var outbound = PacketBatch(slotCapacity: EngineEnd.batchCapacity, byteCapacity: EngineEnd.byteCapacity)
    /// The packets on their way in.
    var inbound = PacketBatch(slotCapacity: EngineEnd.batchCapacity, byteCapacity: EngineEnd.byteCapacity)
    var splitter = TunSplitter()
    var coalescer = TunCoalescer(virtioByteCount: VirtioHeader.byteCount, joinsUDP: true)
    /// The sockets, when packets go through the kernel.
    var transport = UDPTransport()
    /// Where the other end's datagrams come from, when they do not go through the kernel.
    private(set) var remote: DatagramPath

    /// The number of packets that fit into a batch.
    static let batchCapacity = 128
    /// The bytes of packets that fit into a batch.
    static let byteCapacity = 256 << 10

    /// An end that is up and has no peer yet.
    init(isFirst: Bool, privateKey: PrivateKey, mtu: Int) {
        self.isFirst = isFirst
        device = Device(
            random: SystemRandomSource(), wallClock: { WallTime(seconds: 1_800_000_000, nanoseconds: 0) },
            mtu: mtu)
        remote = DatagramPath(remote: Self.outerAddress(port: 51_820))
        var change = ConfigurationChange()
        change.privateKey = .set(privateKey)
        device.apply(change, at: EnginePair.start, into: &outbox)
        device.setUp(true, at: EnginePair.start, into: &outbox)
    }

    /// Makes the other end known.
    mutating func addPeer(_ publicKey: PublicKey, port: UInt16) {
        var peer = PeerChange(publicKey: publicKey)
        remote = DatagramPath(remote: Self.outerAddress(port: port))
        peer.endpoint = remote.remote
        peer.allowedIPs = [PeerChange.AllowedIP(Self.prefix(isFirst: !isFirst))]
        var change = ConfigurationChange()
        change.peers = [peer]
        device.apply(change, at: EnginePair.start, into: &outbox)
    }

    /// The inner address of an end.
    static func innerAddress(isFirst: Bool) -> IPAddress {
        IPAddress(ipv4: isFirst ? 0x0A00_0001 : 0x0A00_0002)
    }

    /// The address of an end's sockets, which are on the loopback interface.
    private static func outerAddress(port: UInt16) -> SocketAddress {
        SocketAddress(address: IPAddress(ipv4: 0x7F00_0001), port: port)
    }

    private static func prefix(isFirst: Bool) -> IPPrefix {
        guard let prefix = IPPrefix(address: innerAddress(isFirst: isFirst), length: 32) else {
            preconditionFailure("32 bits are a prefix")
        }
        return prefix
    }
}
