// SPDX-License-Identifier: MIT

import NexusGuard
import Testing
import WireGuardSimulation

@Suite("joining and splitting again")
struct TunRoundTripTests {
    @Test("gives back every packet byte for byte, in order within each flow", arguments: 1...60)
    func identical(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let packets = Self.packets(&random)
        let (writes, result) = TunTestKernel.coalesce(packets)
        var returned: [[UInt8]] = []
        for write in writes {
            let slotCapacity = Int.random(in: 1...20, using: &random)
            returned += try #require(
                TunTestKernel.split(write.packet, write.virtio, slotCapacity: slotCapacity), "seed \(seed)")
        }
        #expect(result.packetCount == packets.count, "seed \(seed)")
        #expect(result.writeCount == writes.count, "seed \(seed)")
        #expect(returned.count == packets.count, "seed \(seed)")
        let flows = Dictionary(grouping: packets, by: Self.flow)
        #expect(Dictionary(grouping: returned, by: Self.flow) == flows, "seed \(seed)")
        // Writes leave in the order of their first packets.
        var firsts: [Int] = []
        var position = 0
        var unused = Array(packets.enumerated())
        for write in writes {
            let first = try #require(TunTestKernel.split(write.packet, write.virtio)?.first, "seed \(seed)")
            let index = try #require(unused.firstIndex { $0.element == first }, "seed \(seed)")
            firsts.append(unused[index].offset)
            for packet in TunTestKernel.split(write.packet, write.virtio) ?? [] {
                if let index = unused.firstIndex(where: { $0.element == packet }) { unused.remove(at: index) }
            }
            position += 1
        }
        #expect(firsts == firsts.sorted(), "seed \(seed)")
        #expect(position == writes.count, "seed \(seed)")
    }

    @Test("joins a good part of what can be joined, so that the test above is not one of single packets")
    func joinsMost() {
        var packetCount = 0
        var writeCount = 0
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            let (_, result) = TunTestKernel.coalesce(Self.packets(&random))
            packetCount += result.packetCount
            writeCount += result.writeCount
        }
        #expect(Double(writeCount) < 0.75 * Double(packetCount))
    }

    /// Packets of a few flows, mostly in sequence, with all that may go wrong in between.
    private static func packets(_ random: inout SeededRandom) -> [[UInt8]] {
        var flows: [TunTestPacket] = (0..<Int.random(in: 1...20, using: &random)).map { number in
            var flow = TunTestPacket(isIPv6: .random(using: &random))
            flow.transport = .random(using: &random) ? .tcp : .udp
            flow.sourcePort = UInt16(number)
            flow.sequence = .random(in: 0 ... .max, using: &random)
            flow.identification = .random(in: 0 ... .max, using: &random)
            if Bool.random(using: &random) { flow.tcpOptions = [] }
            return flow
        }
        let size = Int.random(in: 1...60, using: &random)
        var packets: [[UInt8]] = []
        for number in 0..<Int.random(in: 1...128, using: &random) {
            let index = Int.random(in: 0..<flows.count, using: &random)
            let isFull = Int.random(in: 0..<8, using: &random) > 0
            let count = isFull ? size : Int.random(in: 0...60, using: &random)
            flows[index] = flows[index].next(payload: TunTestPacket.payload(count, seed: number))
            var packet = flows[index]
            let change = Int.random(in: 0..<80, using: &random)
            switch change {
            case 0: flows[index].timeToLive = 63
            case 1: flows[index].trafficClass ^= 1
            case 2: packet.flags |= 1 << UInt8.random(in: 0..<8, using: &random)
            case 3: packet.fragment = .random(in: 0 ... .max, using: &random)
            case 4: packet.ipOptions = packet.isIPv6 ? [] : [1, 1, 1, 0]
            case 5: packet.hasChecksum = false
            case 6: flows[index].sequence &+= 1
            case 7: flows[index].identification &+= 1
            case 8: packet.flags |= 0x08
            case 9: packet.reserved = 8
            default: break
            }
            var bytes = packet.bytes
            switch change {
            case 10: bytes[.random(in: 0..<bytes.count, using: &random)] ^= 1
            case 11: bytes = Array(bytes.prefix(.random(in: 1...bytes.count, using: &random)))
            case 12: bytes.append(0)
            case 13: bytes[packet.isIPv6 ? 6 : 9] = 50
            default: break
            }
            packets.append(bytes)
        }
        return packets
    }

    /// What must stay in order: the version and addresses, and the ports where they can be read.
    private static func flow(_ packet: [UInt8]) -> [UInt8] {
        guard let first = packet.first else { return [] }
        switch first >> 4 {
        case 4 where packet.count >= 28 && first == 0x45: return [4, packet[9]] + packet[12..<24]
        case 6 where packet.count >= 48: return [6, packet[6]] + packet[8..<44]
        default: return [first >> 4]
        }
    }
}
