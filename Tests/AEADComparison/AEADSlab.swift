// SPDX-License-Identifier: MIT

internal import Glibc
package import WireGuardCrypto

/// Packets at odd places of one block of memory, with the room that `PacketAEAD` may use and guards around it.
package final class AEADSlab {
    /// One packet's secret, size and place.
    package struct Packet {
        /// Which of the keys seals it.
        package var key: Int
        /// The counter of its nonce.
        package var counter: UInt64
        /// The number of its bytes, without the tag.
        package var byteCount: Int
        /// The place of the first byte of content.
        package fileprivate(set) var offset = 0

        /// Describes a packet, which gets its place in a slab.
        package init(key: Int, counter: UInt64, byteCount: Int) {
            self.key = key
            self.counter = counter
            self.byteCount = byteCount
        }
    }

    /// The bytes before and behind each packet's room that nobody may touch.
    private static let guardByteCount = 64

    /// The packets, in the order of their places.
    package let packets: [Packet]
    /// The first byte of the block.
    package let start: UnsafeMutableRawPointer
    /// The size of the block.
    package let byteCount: Int
    /// By how much all packets were moved.
    let shift: Int

    /// Lays out packets without contents; `shift` moves them all to other alignments.
    package init(_ packets: [Packet], shift: Int) {
        self.shift = shift
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
    package init(copying other: AEADSlab) {
        packets = other.packets
        shift = other.shift
        byteCount = other.byteCount
        start = .allocate(byteCount: byteCount, alignment: 64)
        memcpy(start, other.start, byteCount)
    }

    deinit {
        start.deallocate()
    }

    /// Fills the packets with random contents.
    package func fill(_ random: inout some RandomNumberGenerator) {
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
    private func jobs(into target: AEADSlab, keys: UnsafeRawPointer) -> [PacketAEADJob] {
        zip(packets, target.packets).map { packet, other in
            PacketAEADJob(
                key: keys + 32 * packet.key, source: start + packet.offset,
                destination: target.start + other.offset, counter: packet.counter,
                byteCount: packet.byteCount)
        }
    }

    /// Seals in place.
    package func seal(_ implementation: AEADImplementation, keys: UnsafeRawPointer) {
        var jobs = jobs(into: self, keys: keys)
        jobs.withUnsafeMutableBufferPointer { PacketAEAD.seal($0, using: implementation) }
    }

    /// Opens into `target` and says which packets were authentic.
    package func open(
        _ implementation: AEADImplementation, into target: AEADSlab, keys: UnsafeRawPointer
    ) -> [Bool] {
        var jobs = jobs(into: target, keys: keys)
        jobs.withUnsafeMutableBufferPointer { PacketAEAD.open($0, using: implementation) }
        return jobs.map(\.isAuthentic)
    }

    /// The packets whose contents, `extra` bytes behind them included, are not those of another slab.
    package func differences(from other: AEADSlab, extra: Int) -> [Int] {
        packets.indices.filter { index in
            let packet = packets[index]
            return memcmp(
                start + packet.offset, other.start + other.packets[index].offset, packet.byteCount + extra)
                != 0
        }
    }

    /// Whether nothing outside of the packets' rooms was written.
    package var guardsAreWhole: Bool {
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
