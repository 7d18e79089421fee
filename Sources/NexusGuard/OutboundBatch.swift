// SPDX-License-Identifier: MIT

package import WireGuardProtocol

/// Packets on their way from the interface to the peers.
///
/// A `PacketInterface` adds inner packets; once they are sealed, a `DatagramTransport` finds datagrams here.
public struct OutboundBatch: ~Copyable {
    /// The slots and their memory.
    package var packets: PacketBatch

    /// Allocates an empty batch.
    package init(slotCapacity: Int, byteCapacity: Int) {
        packets = PacketBatch(slotCapacity: slotCapacity, byteCapacity: byteCapacity)
    }

    /// Whether a packet of this size fits.
    public func hasRoom(for byteCount: Int) -> Bool { packets.hasRoom(for: byteCount) }

    /// Adds a copy of an inner packet of at most 65,535 bytes.
    ///
    /// - Returns: Whether it fitted; if not, nothing changed.
    public mutating func append(_ packet: RawSpan) -> Bool {
        let byteCount = packet.byteCount
        guard byteCount <= 65_535, packets.hasRoom(for: byteCount) else { return false }
        let congestion = packet.withUnsafeBytes { source in
            source.baseAddress.flatMap { IPPacket.header(of: $0, byteCount: byteCount)?.congestion } ?? 0
        }
        guard let slot = packets.append(byteCount: byteCount, congestion: congestion) else { return false }
        packet.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(start: slot, count: byteCount).copyMemory(from: source)
        }
        return true
    }

    /// Calls `body` with each datagram and where it goes, in order.
    public func forEachDatagram(_ body: (RawSpan, SocketAddress) -> Void) {
        for index in 0..<packets.count where packets.slots[index].state == .ready {
            let datagram = packets.sealedDatagram(index)
            body(datagram.bytes, packets.path(packets.slots[index].path).remote)
        }
    }
}
