// SPDX-License-Identifier: MIT

import CLinux
import NexusGuard
import WireGuardProtocol

/// One write to a TUN, put together from its pieces.
struct TunTestWrite {
    /// The virtio header.
    var virtio: VirtioHeader
    /// The packet behind it.
    var packet: [UInt8]
    /// The number of pieces in which it was given.
    var pieceCount: Int
}

/// Runs the coalescer and the splitter on lists of packets.
enum TunTestKernel {
    /// The writes that a list of packets becomes.
    ///
    /// - Parameter answer: What the kernel says to each write; a negative error number refuses it.
    static func coalesce(
        _ packets: [[UInt8]], virtioByteCount: Int = 10, joinsUDP: Bool = true,
        answer: (TunTestWrite) -> Int = { $0.packet.count }
    ) -> (writes: [TunTestWrite], result: TunWriteResult) {
        var coalescer = TunCoalescer(virtioByteCount: virtioByteCount, joinsUDP: joinsUDP)
        return coalesce(packets, with: &coalescer, answer: answer)
    }

    /// The same with a coalescer that was used before.
    static func coalesce(
        _ packets: [[UInt8]], with coalescer: inout TunCoalescer,
        answer: (TunTestWrite) -> Int = { $0.packet.count }
    ) -> (writes: [TunTestWrite], result: TunWriteResult) {
        var batch = PacketBatch(
            slotCapacity: max(packets.count, 1), byteCapacity: packets.reduce(0) { $0 + $1.count })
        for packet in packets {
            guard let data = batch.append(byteCount: packet.count) else { break }
            UnsafeMutableRawBufferPointer(start: data, count: packet.count).copyBytes(from: packet)
            batch.slots[batch.count - 1].state = .ready
        }
        precondition(batch.count == packets.count, "the batch was made for these packets")
        let virtioByteCount = coalescer.virtioByteCount
        var writes: [TunTestWrite] = []
        let result = coalescer.write(batch) { pieces, count in
            var bytes: [UInt8] = []
            for piece in UnsafeBufferPointer(start: pieces, count: Int(count)) {
                bytes += UnsafeRawBufferPointer(start: piece.iov_base, count: piece.iov_len)
            }
            let header = bytes.prefix(virtioByteCount)
            let virtio = header.withUnsafeBytes { bytes in
                bytes.count < 10 ? VirtioHeader() : bytes.baseAddress.map(VirtioHeader.init(reading:))
            }
            let write = TunTestWrite(
                virtio: virtio ?? VirtioHeader(), packet: Array(bytes.dropFirst(virtioByteCount)),
                pieceCount: Int(count))
            let verdict = answer(write)
            if verdict >= 0 { writes.append(write) }
            return verdict
        }
        return (writes, result)
    }

    /// The packets of one read, split through batches of `slotCapacity` packets; `nil` if it is refused.
    static func split(_ packet: [UInt8], _ virtio: VirtioHeader, slotCapacity: Int = 64) -> [[UInt8]]? {
        var splitter = TunSplitter()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(packet.count, 1), alignment: 1)
        defer { buffer.deallocate() }
        buffer.copyBytes(from: packet)
        guard let start = buffer.baseAddress,
            splitter.load(start, byteCount: packet.count, header: virtio)
        else { return nil }
        var packets: [[UInt8]] = []
        var batch = PacketBatch(slotCapacity: slotCapacity, byteCapacity: 0)
        while splitter.isPending {
            let added = splitter.split(into: &batch)
            precondition(added == batch.count && added > 0, "an empty batch takes at least one packet")
            for index in 0..<batch.count {
                let slot = batch.slots[index]
                packets.append([UInt8](UnsafeRawBufferPointer(start: slot.data, count: slot.byteCount)))
            }
            batch.removeAll()
        }
        return packets
    }

    /// A virtio header for a packet of several segments.
    static func segments(of packet: TunTestPacket, size: Int) -> VirtioHeader {
        var virtio = VirtioHeader()
        virtio.flags = linux_virtio_needs_csum
        switch packet.transport {
        case .udp: virtio.segmentation = linux_virtio_gso_udp_l4
        case .tcp: virtio.segmentation = packet.isIPv6 ? linux_virtio_gso_tcpv6 : linux_virtio_gso_tcpv4
        }
        virtio.headerByteCount = UInt16(packet.headerByteCount)
        virtio.segmentByteCount = UInt16(size)
        virtio.checksumStart = UInt16(packet.transportOffset)
        virtio.checksumOffset = UInt16(packet.checksumPosition - packet.transportOffset)
        return virtio
    }
}
