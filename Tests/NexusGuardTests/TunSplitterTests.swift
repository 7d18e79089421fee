// SPDX-License-Identifier: MIT

import CLinux
import NexusGuard
import Testing
import WireGuardProtocol
import WireGuardSimulation

@Suite("splitting of what a TUN gives")
struct TunSplitterTests {
    @Test("TCP segments get their sequence, length, identification and checksum", arguments: [false, true])
    func tcp(isIPv6: Bool) throws {
        var whole = TunTestPacket(isIPv6: isIPv6)
        whole.sequence = 0xFFFF_FF00
        whole.identification = 0xFFFF
        whole.payload = TunTestPacket.payload(1_000 * 3 + 17)
        let packets = try #require(
            TunTestKernel.split(
                whole.bytesWithPartialChecksum, TunTestKernel.segments(of: whole, size: 1_000)))
        var expected = whole
        expected.payload = Array(whole.payload[0..<1_000])
        var list = [expected.bytes]
        for part in [1_000..<2_000, 2_000..<3_000, 3_000..<3_017] {
            expected = expected.next(payload: Array(whole.payload[part]))
            list.append(expected.bytes)
        }
        #expect(packets == list)
    }

    @Test("FIN and PSH are on the last segment only, CWR on the first only")
    func flags() throws {
        var whole = TunTestPacket()
        whole.flags = 0x10 | 0x01 | 0x08 | 0x80 | 0x40
        whole.payload = TunTestPacket.payload(300)
        var virtio = TunTestKernel.segments(of: whole, size: 100)
        virtio.segmentation |= linux_virtio_gso_ecn
        let packets = try #require(TunTestKernel.split(whole.bytesWithPartialChecksum, virtio))
        // ACK and ECE are on all.
        let flags: [UInt8] = [0xD0, 0x50, 0x59]
        #expect(packets.map { $0[33] } == flags)
    }

    @Test("UDP segments get their length, identification and checksum", arguments: [false, true])
    func udp(isIPv6: Bool) throws {
        var whole = TunTestPacket(isIPv6: isIPv6, transport: .udp)
        whole.payload = TunTestPacket.payload(1_200 * 2 + 1)
        let packets = try #require(
            TunTestKernel.split(
                whole.bytesWithPartialChecksum, TunTestKernel.segments(of: whole, size: 1_200)))
        var expected = whole
        expected.payload = Array(whole.payload[0..<1_200])
        let second = expected.next(payload: Array(whole.payload[1_200..<2_400]))
        let third = second.next(payload: [whole.payload[2_400]])
        #expect(packets == [expected.bytes, second.bytes, third.bytes])
    }

    @Test("a checksum that comes out as 0 is sent as 0xFFFF in UDP")
    func zeroChecksum() throws {
        var whole = TunTestPacket(transport: .udp)
        // The second segment's words add up to 0xFFFF with this last word: found from its own checksum.
        whole.payload = TunTestPacket.payload(100) + TunTestPacket.payload(98, seed: 2) + [0, 0]
        var second = whole
        second.identification += 1
        second.payload = Array(whole.payload[100...])
        let bytes = second.bytes
        whole.payload.replaceSubrange(198..<200, with: bytes[26..<28])
        let virtio = TunTestKernel.segments(of: whole, size: 100)
        let packets = try #require(TunTestKernel.split(whole.bytesWithPartialChecksum, virtio))
        #expect(Array(packets[1][26..<28]) == [0xFF, 0xFF])
        #expect(Array(packets[1][28...]) == Array(whole.payload[100...]))
    }

    @Test("an unfinished checksum of a single packet is completed", arguments: [false, true])
    func completes(isIPv6: Bool) throws {
        for transport in [TunTestPacket.Transport.tcp, .udp] {
            var packet = TunTestPacket(isIPv6: isIPv6, transport: transport)
            packet.payload = TunTestPacket.payload(333)
            var virtio = TunTestKernel.segments(of: packet, size: 0)
            virtio.segmentation = linux_virtio_gso_none
            #expect(TunTestKernel.split(packet.bytesWithPartialChecksum, virtio) == [packet.bytes])
        }
    }

    @Test("a packet without anything to do passes unchanged, whatever it is")
    func passes() {
        for bytes in [[0x45], [0x00, 1, 2], [0x5F], [UInt8](repeating: 0xF0, count: 1_420)] {
            #expect(TunTestKernel.split(bytes, VirtioHeader()) == [bytes])
        }
        #expect(TunTestKernel.split([], VirtioHeader()) == nil)
    }

    @Test("a payload of one segment or none gives one packet")
    func oneSegment() {
        for count in [0, 1, 100] {
            var packet = TunTestPacket()
            packet.payload = TunTestPacket.payload(count)
            let virtio = TunTestKernel.segments(of: packet, size: 100)
            #expect(TunTestKernel.split(packet.bytesWithPartialChecksum, virtio) == [packet.bytes])
        }
    }

    @Test("the split goes on in the next batch when one is full", arguments: [1, 2, 3, 7, 44])
    func resumes(slotCapacity: Int) throws {
        var whole = TunTestPacket()
        whole.payload = TunTestPacket.payload(60_001)
        let virtio = TunTestKernel.segments(of: whole, size: 1_368)
        let all = try #require(TunTestKernel.split(whole.bytesWithPartialChecksum, virtio, slotCapacity: 64))
        let parts = try #require(
            TunTestKernel.split(whole.bytesWithPartialChecksum, virtio, slotCapacity: slotCapacity))
        #expect(all.count == 44)
        #expect(parts == all)
        #expect(all.flatMap { $0.dropFirst(52) } == whole.payload)
    }

    @Test("a packet's ECN bits are told with it")
    func congestion() {
        let cases: [(isIPv6: Bool, trafficClass: UInt8, expected: UInt8)] = [
            (false, 0xB9, 1), (true, 0xBA, 2), (true, 0x03, 3),
        ]
        for (isIPv6, trafficClass, expected) in cases {
            var packet = TunTestPacket(isIPv6: isIPv6, trafficClass: trafficClass)
            packet.payload = [1]
            var bytes = packet.bytes
            var splitter = TunSplitter()
            var batch = PacketBatch(slotCapacity: 1, byteCapacity: 0)
            bytes.withUnsafeMutableBytes { buffer in
                guard let start = buffer.baseAddress else { return }
                _ = splitter.load(start, byteCount: buffer.count, header: VirtioHeader())
                _ = splitter.split(into: &batch)
            }
            #expect(batch.count == 1)
            #expect(batch.slots[0].congestion == expected)
        }
    }

    @Test("a virtio header that does not fit the packet is refused")
    func malformed() {
        var packet = TunTestPacket()
        packet.payload = TunTestPacket.payload(500)
        let bytes = packet.bytesWithPartialChecksum
        let good = TunTestKernel.segments(of: packet, size: 100)
        #expect(TunTestKernel.split(bytes, good)?.count == 5)
        func refused(_ bytes: [UInt8], _ change: (inout VirtioHeader) -> Void) -> Bool {
            var virtio = good
            change(&virtio)
            return TunTestKernel.split(bytes, virtio) == nil
        }
        #expect(refused(bytes) { $0.segmentByteCount = 0 })
        #expect(refused(bytes) { $0.checksumStart = 19 })
        #expect(refused(bytes) { $0.checksumStart = 24 })
        #expect(refused(bytes) { $0.checksumStart = 60_000 })
        #expect(refused(bytes) { $0.checksumOffset = 6 })
        #expect(refused(bytes) { $0.segmentation = linux_virtio_gso_tcpv6 })
        #expect(refused(bytes) { $0.segmentation = linux_virtio_gso_udp_l4 })
        #expect(refused(bytes) { $0.segmentation = 3 })
        #expect(refused(bytes) { $0.segmentation = 99 })
        #expect(refused(Array(bytes.prefix(51))) { _ in })
        #expect(refused(Array(bytes.prefix(39))) { _ in })
        #expect(refused(Array(bytes.prefix(1))) { _ in })
        var shortHeader = bytes
        shortHeader[32] = 0x40
        #expect(refused(shortHeader) { _ in })
        var longHeader = bytes
        longHeader[32] = 0xF0
        #expect(refused(Array(longHeader.prefix(79))) { _ in })
        let isRefusedBehindEnd = refused(bytes) {
            $0.segmentation = linux_virtio_gso_none
            $0.checksumStart = UInt16(bytes.count - 17)
        }
        #expect(isRefusedBehindEnd)
        // A hint only: the kernel gives the size of all linear bytes, or none.
        #expect(!refused(bytes) { $0.headerByteCount = 0 })
        #expect(!refused(bytes) { $0.headerByteCount = 65_535 })
    }

    @Test("random virtio headers and packets lose no byte of the buffer and never trap", arguments: 1...8)
    func fuzz(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var accepted = 0
        for _ in 0..<2_000 {
            var packet = TunTestPacket(isIPv6: .random(using: &random))
            packet.transport = .random(using: &random) ? .tcp : .udp
            packet.payload = TunTestPacket.payload(.random(in: 0...400, using: &random))
            var bytes = packet.bytesWithPartialChecksum
            var virtio = TunTestKernel.segments(of: packet, size: .random(in: 0...500, using: &random))
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let number = UInt16.random(in: 0...700, using: &random)
                switch Int.random(in: 0..<8, using: &random) {
                case 0: virtio.flags = UInt8.random(in: 0...255, using: &random)
                case 1: virtio.segmentation = UInt8.random(in: 0...6, using: &random)
                case 2: virtio.headerByteCount = .random(in: 0...65_535, using: &random)
                case 3: virtio.segmentByteCount = number
                case 4: virtio.checksumStart = number
                case 5: virtio.checksumOffset = number
                case 6: bytes = Array(bytes.prefix(Int(number)))
                default:
                    let index = Int(number) % max(bytes.count, 1)
                    if index < bytes.count { bytes[index] = .random(in: 0...255, using: &random) }
                }
            }
            guard let packets = TunTestKernel.split(bytes, virtio, slotCapacity: 16) else { continue }
            accepted += 1
            #expect(packets.allSatisfy { !$0.isEmpty && $0.count <= bytes.count }, "seed \(seed)")
        }
        #expect(accepted > 100, "seed \(seed)")
    }
}
