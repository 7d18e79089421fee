// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import NexusGuard
import Testing

@Suite("joining of packets for a TUN")
struct TunCoalescerTests {
    /// The kinds of flow: IPv4 and IPv6, TCP and UDP.
    static let kinds: [TunTestPacket] = [
        TunTestPacket(), TunTestPacket(isIPv6: true), TunTestPacket(transport: .udp),
        TunTestPacket(isIPv6: true, transport: .udp),
    ]

    /// Two packets of a flow that are joined as they are.
    private static func pair(_ kind: TunTestPacket) -> (TunTestPacket, TunTestPacket) {
        var first = kind
        first.payload = TunTestPacket.payload(100)
        return (first, first.next(payload: TunTestPacket.payload(100, seed: 2)))
    }

    private static func writeCount(_ packets: [TunTestPacket]) -> Int {
        TunTestKernel.coalesce(packets.map(\.bytes)).writes.count
    }

    @Test("neighbours of a flow leave in one write, payloads as pieces of their own", arguments: kinds)
    func joins(kind: TunTestPacket) throws {
        let (first, second) = Self.pair(kind)
        let third = second.next(payload: TunTestPacket.payload(30, seed: 3))
        let (writes, result) = TunTestKernel.coalesce([first, second, third].map(\.bytes))
        let write = try #require(writes.first)
        var whole = first
        whole.payload = first.payload + second.payload + third.payload
        #expect(writes.count == 1)
        #expect(write.packet == whole.bytesWithPartialChecksum)
        #expect(write.virtio == TunTestKernel.segments(of: first, size: 100))
        #expect(write.pieceCount == 4)
        #expect(result.packetCount == 3)
        #expect(result.writeCount == 1)
        #expect(result.droppedCount == 0)
    }

    @Test("packets that differ in a header field that a join would lose stay apart")
    func differences() {
        let changes: [(String, (inout TunTestPacket) -> Void)] = [
            ("time to live", { $0.timeToLive = 63 }), ("DSCP", { $0.trafficClass = 0x20 }),
            ("ECN", { $0.trafficClass = 0x01 }), ("flow label", { $0.flowLabel = $0.isIPv6 ? 9 : 0 }),
            ("DF", { $0.fragment = 0 }), ("more fragments", { $0.fragment = 0x2000 }),
            ("fragment offset", { $0.fragment = 5 }), ("reserved bit of IPv4", { $0.fragment = 0xC000 }),
            ("same identification", { $0.identification &-= 1 }),
            ("other identification", { $0.identification = 1 }),
            ("IPv4 options", { $0.ipOptions = $0.isIPv6 ? [] : [1, 1, 1, 0] }),
            ("source port", { $0.sourcePort = 1 }), ("destination port", { $0.destinationPort = 1 }),
            ("source address", { $0.source = 9 }), ("destination address", { $0.destination = 9 }),
            ("gap", { $0.sequence &+= 1 }), ("overlap", { $0.sequence &-= 1 }),
            ("acknowledgment", { $0.acknowledgment = 78 }), ("window", { $0.window = 501 }),
            ("urgent pointer", { $0.urgent = 1 }), ("reserved bits", { $0.reserved = 1 }),
            ("timestamp", { $0.tcpOptions[7] = 9 }), ("fewer options", { $0.tcpOptions = [] }),
            ("FIN", { $0.flags |= 0x01 }), ("SYN", { $0.flags |= 0x02 }), ("RST", { $0.flags |= 0x04 }),
            ("URG", { $0.flags |= 0x20 }), ("ECE", { $0.flags |= 0x40 }), ("CWR", { $0.flags |= 0x80 }),
            ("no ACK", { $0.flags = 0 }), ("longer payload", { $0.payload += [0] }),
            ("no payload", { $0.payload = [] }), ("no checksum", { $0.hasChecksum = false }),
        ]
        for kind in Self.kinds {
            let (first, second) = Self.pair(kind)
            for (name, change) in changes {
                var changed = second
                change(&changed)
                // A field that this kind of packet does not have changes nothing.
                let expected = changed.bytes == second.bytes ? 1 : 2
                #expect(Self.writeCount([first, changed]) == expected, "\(name), \(kind)")
            }
        }
    }

    @Test(
        "a first packet with a flag other than ACK takes nothing behind it",
        arguments: [0x01, 0x02, 0x04, 0x08, 0x20, 0x40, 0x80] as [UInt8])
    func firstFlags(flag: UInt8) {
        var (first, second) = Self.pair(TunTestPacket())
        first.flags |= flag
        second.sequence = first.sequence &+ 100
        #expect(Self.writeCount([first, second]) == 2)
        second.flags = first.flags
        #expect(Self.writeCount([first, second]) == 2)
    }

    @Test("PSH ends a run and is kept")
    func push() throws {
        var (first, second) = Self.pair(TunTestPacket())
        second.flags |= 0x08
        let third = second.next(payload: TunTestPacket.payload(100))
        let (writes, _) = TunTestKernel.coalesce([first, second, third].map(\.bytes))
        try #require(writes.count == 2)
        #expect(writes[0].packet[33] == 0x18)
        #expect(writes[1].packet == third.bytes)
        first.flags |= 0x08
        #expect(Self.writeCount([first, second]) == 2)
    }

    @Test("a shorter payload ends a run", arguments: kinds)
    func shorter(kind: TunTestPacket) {
        let (first, second) = Self.pair(kind)
        let short = second.next(payload: [1])
        #expect(Self.writeCount([first, second, short]) == 1)
        #expect(Self.writeCount([first, second, short, short.next(payload: [2])]) == 2)
    }

    @Test("a wrong checksum stays wrong: its packet is not joined, first or second", arguments: kinds)
    func wrongChecksum(kind: TunTestPacket) {
        let (first, second) = Self.pair(kind)
        var positions = [kind.checksumPosition, 60]
        if !kind.isIPv6 { positions.append(10) }
        for position in positions {
            for number in 0...1 {
                var packets = [first.bytes, second.bytes]
                packets[number][position] ^= 0x10
                let (writes, _) = TunTestKernel.coalesce(packets)
                #expect(writes.map(\.packet) == packets, "byte \(position) of packet \(number)")
                #expect(writes.allSatisfy { $0.virtio == VirtioHeader() })
            }
        }
    }

    @Test("lengths that disagree with the packet keep it alone", arguments: kinds)
    func lengths(kind: TunTestPacket) {
        let (first, second) = Self.pair(kind)
        for packets in [[first.bytes + [0], second.bytes], [first.bytes, second.bytes.dropLast()]] {
            let (writes, _) = TunTestKernel.coalesce(packets)
            #expect(writes.map(\.packet) == packets)
        }
    }

    @Test("flows that alternate are joined each, in the order of their first packets")
    func interleaved() {
        var packets: [TunTestPacket] = []
        var flows = (0..<10).map { number in
            var flow = Self.kinds[number % 4]
            flow.sourcePort = UInt16(2_000 + number)
            flow.payload = TunTestPacket.payload(50)
            return flow
        }
        for _ in 0..<5 {
            packets += flows
            flows = flows.map { $0.next(payload: $0.payload) }
        }
        let (writes, result) = TunTestKernel.coalesce(packets.map(\.bytes))
        #expect(writes.count == 10)
        #expect(result.packetCount == 50)
        for (number, write) in writes.enumerated() {
            let port = TunTestPacket.octets(UInt16(2_000 + number))
            let start = number % 2 == 0 ? 20 : 40
            #expect(Array(write.packet[start..<start + 2]) == port)
        }
    }

    @Test("a packet that stays alone is not overtaken by its flow")
    func order() {
        let (first, second) = Self.pair(TunTestPacket())
        var acknowledgment = second
        acknowledgment.payload = []
        #expect(Self.writeCount([first, acknowledgment, second]) == 3)
        // Another connection between the same hosts may be overtaken by one that was first, a fragment not.
        acknowledgment.sourcePort = 1
        #expect(Self.writeCount([first, acknowledgment, second]) == 2)
        var fragment = second
        fragment.fragment = 0x2000
        fragment.sourcePort = 1
        #expect(Self.writeCount([first, fragment, second]) == 3)
        #expect(TunTestKernel.coalesce([first.bytes, [0x10], second.bytes]).writes.count == 3)
    }

    @Test("a write never carries values of the one before it")
    func staleHeader() {
        var coalescer = TunCoalescer(virtioByteCount: 10, joinsUDP: true)
        let (first, second) = Self.pair(TunTestPacket())
        let alone = Self.pair(TunTestPacket(transport: .udp)).0
        for _ in 0..<3 {
            let (joined, _) = TunTestKernel.coalesce([first, second].map(\.bytes), with: &coalescer)
            #expect(joined.map(\.virtio.kind) == [linux_virtio_gso_tcpv4])
            let (writes, _) = TunTestKernel.coalesce([alone.bytes, [0x45]], with: &coalescer)
            #expect(writes.map(\.virtio) == [VirtioHeader(), VirtioHeader()])
            #expect(writes.map(\.packet) == [alone.bytes, [0x45]])
        }
    }

    @Test("a write has at most 65,535 bytes, and at most 64 datagrams of UDP")
    func limits() throws {
        var packets = [TunTestPacket(payload: TunTestPacket.payload(1_368))]
        var datagrams = [TunTestPacket(transport: .udp, payload: [1, 2])]
        for number in 1..<130 {
            packets.append(packets[number - 1].next(payload: TunTestPacket.payload(1_368)))
            datagrams.append(datagrams[number - 1].next(payload: [3, 4]))
        }
        let sizes = TunTestKernel.coalesce(packets.map(\.bytes)).writes.map(\.packet.count)
        // 47 segments: 52 + 47 * 1,368 = 64,348, and one more would be 65,716.
        #expect(sizes == [64_348, 64_348, 52 + 36 * 1_368])
        let counts = TunTestKernel.coalesce(datagrams.map(\.bytes)).writes.map { ($0.packet.count - 28) / 2 }
        #expect(counts == [64, 64, 2])
    }

    @Test("without UDP offload datagrams leave one by one, without virtio headers all packets do")
    func withoutOffload() {
        let (first, second) = Self.pair(TunTestPacket(transport: .udp))
        let datagrams = TunTestKernel.coalesce([first, second].map(\.bytes), joinsUDP: false)
        #expect(datagrams.writes.map(\.packet) == [first.bytes, second.bytes])
        let (third, fourth) = Self.pair(TunTestPacket())
        let plain = TunTestKernel.coalesce([third, fourth].map(\.bytes), virtioByteCount: 0)
        #expect(plain.writes.map(\.packet) == [third.bytes, fourth.bytes])
        #expect(plain.writes.map(\.pieceCount) == [1, 1])
    }

    @Test("a joined write that is refused with EINVAL is made packet by packet", arguments: kinds)
    func fallsBack(kind: TunTestPacket) {
        let (first, second) = Self.pair(kind)
        let (writes, result) = TunTestKernel.coalesce([first, second].map(\.bytes)) {
            $0.virtio.kind == linux_virtio_gso_none ? 1 : -Int(EINVAL)
        }
        #expect(writes.map(\.packet) == [first.bytes, second.bytes])
        #expect(result.packetCount == 2)
        #expect(result.droppedCount == 0)
        #expect(result.writeCount == 3)
    }

    @Test("refused packets are counted, and nothing is written once the interface is gone")
    func refusals() {
        let (first, second) = Self.pair(TunTestPacket())
        let other = Self.pair(TunTestPacket(transport: .udp)).0
        for error in [EAGAIN, ENOBUFS, EIO, EINVAL] {
            let (_, result) = TunTestKernel.coalesce([first, second, other].map(\.bytes)) { _ in -Int(error) }
            #expect(result.droppedCount == 3)
            #expect(!result.isGone)
        }
        for error in [EBADFD, ENODEV] {
            let (_, result) = TunTestKernel.coalesce([first, second, other].map(\.bytes)) { _ in -Int(error) }
            #expect(result.droppedCount == 3)
            #expect(result.writeCount == 1)
            #expect(result.isGone)
        }
    }
}
