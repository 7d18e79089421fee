// SPDX-License-Identifier: MIT

import Foundation
import WireGuardCrypto

/// Packets at odd places of one block of memory, with the room that `PacketAEAD` may use and guards around it.
final class VectorAEADSlab {
    /// One packet's secret, size and place.
    struct Packet {
        var key = 0
        var counter: UInt64 = 0
        var byteCount = 0
        /// The place of the first byte of content.
        var offset = 0
    }

    /// The bytes before and behind each packet's room that nobody may touch.
    static let guardByteCount = 64

    let packets: [Packet]
    let start: UnsafeMutableRawPointer
    let byteCount: Int

    /// Lays out packets without contents; `shift` moves them all to other alignments.
    init(_ packets: [Packet], shift: Int) {
        var end = shift
        self.packets = packets.map { packet in
            var placed = packet
            placed.offset = end + Self.guardByteCount + PacketAEAD.headroom
            end = placed.offset + packet.byteCount + PacketAEAD.tailroom + Self.guardByteCount
            return placed
        }
        byteCount = end
        start = .allocate(byteCount: end, alignment: 64)
        memset(start, 0xA5, end)
    }

    /// A copy with the same contents at the same places.
    init(copying other: VectorAEADSlab) {
        packets = other.packets
        byteCount = other.byteCount
        start = .allocate(byteCount: byteCount, alignment: 64)
        memcpy(start, other.start, byteCount)
    }

    deinit {
        start.deallocate()
    }

    /// Fills the packets with random contents.
    func fill(_ random: inout SeededGenerator) {
        for packet in packets {
            var offset = packet.offset
            let end = offset + packet.byteCount
            while offset < end {
                var bytes = random.next()
                memcpy(start + offset, &bytes, min(8, end - offset))
                offset += 8
            }
        }
    }

    /// Jobs that read here and write to `target`, which has the same packets.
    func jobs(into target: VectorAEADSlab, keys: UnsafeRawPointer) -> [PacketAEADJob] {
        zip(packets, target.packets).map { packet, other in
            PacketAEADJob(
                key: keys + 32 * packet.key, source: start + packet.offset,
                destination: target.start + other.offset, counter: packet.counter,
                byteCount: packet.byteCount)
        }
    }

    /// Seals in place.
    func seal(_ implementation: AEADImplementation, keys: UnsafeRawPointer) {
        var jobs = jobs(into: self, keys: keys)
        jobs.withUnsafeMutableBufferPointer { PacketAEAD.seal($0, using: implementation) }
    }

    /// Opens into `target` and says which packets were authentic.
    func open(
        _ implementation: AEADImplementation, into target: VectorAEADSlab, keys: UnsafeRawPointer
    ) -> [Bool] {
        var jobs = jobs(into: target, keys: keys)
        jobs.withUnsafeMutableBufferPointer { PacketAEAD.open($0, using: implementation) }
        return jobs.map(\.isAuthentic)
    }

    /// The packets whose contents, `extra` bytes behind them included, are not those of another slab.
    func differences(from other: VectorAEADSlab, extra: Int) -> [Int] {
        packets.indices.filter { index in
            let packet = packets[index]
            return memcmp(
                start + packet.offset, other.start + other.packets[index].offset, packet.byteCount + extra)
                != 0
        }
    }

    /// Whether nothing outside of the packets' rooms was written.
    var guardsAreWhole: Bool {
        var place = 0
        for packet in packets {
            let room = packet.offset - PacketAEAD.headroom
            if !(place..<room).allSatisfy({ isUntouched($0) }) { return false }
            place = packet.offset + packet.byteCount + PacketAEAD.tailroom
        }
        return (place..<byteCount).allSatisfy { isUntouched($0) }
    }

    private func isUntouched(_ offset: Int) -> Bool {
        start.load(fromByteOffset: offset, as: UInt8.self) == 0xA5
    }
}
