// SPDX-License-Identifier: MIT

package import WireGuardProtocol

/// Packets on their way from the peers to the interface.
///
/// A `DatagramTransport` adds datagrams; once they are opened, a `PacketInterface` finds inner packets here.
public struct InboundBatch: ~Copyable {
    /// The slots and their memory.
    package var packets: PacketBatch
    /// Memory for datagrams that a transport hands in by copy; made when the first one comes.
    private var copies: UnsafeMutableRawPointer?
    private let copyCapacity: Int
    private var copiedByteCount = 0

    /// The bytes around a copied datagram that the cipher may read.
    private static let room = (before: 64, behind: 256)

    /// Allocates an empty batch.
    package init(slotCapacity: Int, byteCapacity: Int) {
        packets = PacketBatch(slotCapacity: slotCapacity, byteCapacity: byteCapacity)
        copyCapacity = max(byteCapacity, 65_536) + slotCapacity * (Self.room.before + Self.room.behind + 64)
    }

    /// Whether a datagram of this size fits.
    public func hasRoom(for byteCount: Int) -> Bool {
        packets.hasRoom(for: byteCount) && copiedByteCount + Self.footprint(byteCount) <= copyCapacity
    }

    /// Adds a copy of a datagram of at most 65,535 bytes.
    ///
    /// - Parameters:
    ///   - source: Where it came from.
    ///   - congestion: The two ECN bits of its outer header; 0 when they are not known.
    /// - Returns: Whether it fitted; if not, nothing changed.
    public mutating func append(
        _ datagram: RawSpan, from source: SocketAddress, congestion: UInt8 = 0
    ) -> Bool {
        let byteCount = datagram.byteCount
        guard byteCount <= 65_535, hasRoom(for: byteCount) else { return false }
        let memory = copies ?? .allocate(byteCount: copyCapacity, alignment: 64)
        copies = memory
        let copy = UnsafeMutableRawBufferPointer(
            start: memory + copiedByteCount + Self.room.before, count: byteCount)
        datagram.withUnsafeBytes { copy.copyMemory(from: $0) }
        let path = packets.addPath(DatagramPath(remote: source))
        guard
            packets.append(
                datagram: UnsafeRawBufferPointer(copy), congestion: congestion & 3, path: path)
        else { return false }
        copiedByteCount += Self.footprint(byteCount)
        return true
    }

    /// Calls `body` with each inner packet, in order.
    public func forEachPacket(_ body: (RawSpan) -> Void) {
        for index in 0..<packets.count where packets.slots[index].state == .ready {
            let slot = packets.slots[index]
            body(UnsafeRawBufferPointer(start: slot.data, count: slot.byteCount).bytes)
        }
    }

    /// Empties the batch.
    package mutating func removeAll() {
        packets.removeAll()
        copiedByteCount = 0
    }

    /// The bytes of memory that a copied datagram takes.
    private static func footprint(_ byteCount: Int) -> Int {
        (room.before + byteCount + room.behind + 63) & ~63
    }

    deinit {
        copies?.deallocate()
    }
}
