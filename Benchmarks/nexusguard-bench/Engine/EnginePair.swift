// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import NexusGuard
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

/// Two devices with a completed handshake, and batches of packets that go back and forth between them.
///
/// Each batch takes the way that packets take in a tunnel: plan, seal and commit at one end, plan, open and
/// commit at the other. Time stands still, so that no deadline comes between.
struct EnginePair: ~Copyable {
    private var first: EngineEnd
    private var second: EngineEnd
    private let options: EngineOptions
    private let segment: SyntheticSegment
    /// Whether the next batch leaves from the first end.
    private var leavesFirst = true

    /// When everything begins.
    static let start = Instant(nanoseconds: 1_000_000_000)

    /// Connects two devices and sends a few batches both ways, so that all memory is in place.
    ///
    /// - Throws: `SystemCallError` when no sockets can be had.
    init(_ options: EngineOptions) throws(SystemCallError) {
        self.options = options
        segment = SyntheticSegment(packetByteCount: options.packetByteCount, count: options.batchCount)
        let keys = [PrivateKey(), PrivateKey()]
        let mtu = max(1_420, options.packetByteCount)
        first = EngineEnd(isFirst: true, privateKey: keys[0], mtu: mtu)
        second = EngineEnd(isFirst: false, privateKey: keys[1], mtu: mtu)
        if options.usesLoopback {
            try first.transport.open(port: 0, firewallMark: 0)
            try second.transport.open(port: 0, firewallMark: 0)
        }
        first.addPeer(keys[1].publicKey, port: second.transport.isOpen ? second.transport.port : 51_820)
        second.addPeer(keys[0].publicKey, port: first.transport.isOpen ? first.transport.port : 51_820)
        connect()
        for _ in 0..<8 { exchange(options.batchCount) }
    }

    /// Sends one batch of `count` packets, each time the other way round.
    mutating func exchange(_ count: Int) {
        if leavesFirst {
            EngineTransfer.carry(count, of: segment, from: &first, to: &second, options)
        } else {
            EngineTransfer.carry(count, of: segment, from: &second, to: &first, options)
        }
        leavesFirst.toggle()
    }

    /// Sends exactly so many packets.
    mutating func send(_ packetCount: Int) {
        var left = packetCount
        while left > 0 {
            let count = min(left, options.batchCount)
            exchange(count)
            left -= count
        }
    }

    /// Runs the handshake that the first packet asks for.
    private mutating func connect() {
        EngineTransfer.fill(&first, with: segment, 1, options)
        first.device.planOutbound(&first.outbound, at: Self.start, into: &first.outbox)
        first.outbound.removeAll()
        var rounds = 0
        while !(first.outbox.entries.isEmpty && second.outbox.entries.isEmpty) {
            EngineTransfer.deliverOutbox(of: &first, to: &second)
            EngineTransfer.deliverOutbox(of: &second, to: &first)
            rounds += 1
            precondition(rounds < 8, "a handshake has two messages and a first packet")
        }
    }
}
