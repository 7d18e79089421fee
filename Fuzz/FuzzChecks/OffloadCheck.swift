// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import NexusGuard
internal import WireGuardProtocol

/// Packets that leave the tunnel, joined for the kernel, and reads from the kernel, split.
///
/// The input is a byte of choices; then either packets, which must be the same after they were joined and split,
/// or a virtio header and one read, whose segments must hold its payload and nothing else.
enum OffloadCheck {
    private static let mostPackets = 100

    static func failure(_ reader: inout ByteReader) -> String? {
        let choices = reader.byte()
        return choices & 1 == 0 ? roundTrip(choices, &reader) : read(&reader)
    }

    private static func roundTrip(_ choices: UInt8, _ reader: inout ByteReader) -> String? {
        var maker = FlowPacketMaker()
        var packets: [[UInt8]] = []
        while !reader.isAtEnd, packets.count < mostPackets { packets.append(maker.next(&reader)) }
        guard !packets.isEmpty else { return nil }
        var batch = PacketBatch(
            slotCapacity: packets.count, byteCapacity: packets.reduce(0) { $0 + $1.count })
        for packet in packets {
            guard let data = batch.append(byteCount: packet.count) else { return "the batch is full" }
            UnsafeMutableRawBufferPointer(start: data, count: packet.count).copyBytes(from: packet)
            batch.slots[batch.count - 1].state = .ready
        }

        var coalescer = TunCoalescer(virtioByteCount: VirtioHeader.byteCount, joinsUDP: choices & 2 == 0)
        var returned: [[UInt8]] = []
        var refusal: String?
        // Each second joined packet is refused on request, as a kernel without UDP segmentation does.
        var refusesNext = choices & 4 != 0
        let result = coalescer.write(batch) { pieces, count in
            let bytes = UnsafeBufferPointer(start: pieces, count: Int(count)).flatMap {
                Array(UnsafeRawBufferPointer(start: $0.iov_base, count: $0.iov_len))
            }
            let header = bytes.withUnsafeBytes { $0.baseAddress.map(VirtioHeader.init(reading:)) }
            guard let header, bytes.count > VirtioHeader.byteCount else { return -Int(EINVAL) }
            if header.kind != 0, choices & 4 != 0 {
                refusesNext.toggle()
                if refusesNext { return -Int(EINVAL) }
            }
            guard let split = split(Array(bytes[VirtioHeader.byteCount...]), header) else {
                refusal = "what was joined cannot be split"
                return bytes.count
            }
            returned += split
            return bytes.count
        }
        if let refusal { return refusal }
        if result.packetCount != packets.count || returned.count != packets.count {
            return "of \(packets.count) packets \(result.packetCount) are counted, \(returned.count) come out"
        }
        let isSame = Dictionary(grouping: packets, by: flow) == Dictionary(grouping: returned, by: flow)
        return isSame ? nil : "a flow has other packets after it was joined and split"
    }

    private static func read(_ reader: inout ByteReader) -> String? {
        var header = VirtioHeader()
        header.flags = reader.byte()
        header.segmentation = reader.byte()
        header.headerByteCount = UInt16(reader.word())
        header.segmentByteCount = UInt16(reader.word())
        header.checksumStart = UInt16(reader.byte())
        header.checksumOffset = UInt16(reader.byte())
        var packet = reader.rest()
        // A read may have 64 KiB, an input has not.
        if let last = packet.last, last & 1 == 1 { packet += [UInt8](repeating: last, count: 60_000) }
        guard let segments = split(packet, header) else { return nil }
        if header.kind == 0 { return segments.count == 1 ? nil : "a whole packet is split" }
        // Each segment but the last is full, so that the size of the headers follows from it.
        let size = Int(header.segmentByteCount)
        guard let last = segments.last else { return "nothing comes out of a read" }
        let headers = segments.count > 1 ? segments[0].count - size : last.count - min(size, last.count)
        let payload = segments.reduce(0) { $0 + $1.count } - segments.count * headers
        let isFull = segments.dropLast().allSatisfy { $0.count == headers + size }
        let isWhole =
            segments.count > 1
            ? isFull && last.count <= headers + size && headers + payload == packet.count
            : last.count == packet.count
        return isWhole ? nil : "bytes of a read are lost"
    }

    /// The packets of one read, through batches of a few packets; `nil` if it is refused.
    private static func split(_ packet: [UInt8], _ header: VirtioHeader) -> [[UInt8]]? {
        // A block of exactly this size, so that reading behind its end is noticed.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(packet.count, 1), alignment: 16)
        defer { buffer.deallocate() }
        buffer.copyBytes(from: packet)
        var splitter = TunSplitter()
        guard let start = buffer.baseAddress, splitter.load(start, byteCount: packet.count, header: header)
        else {
            return nil
        }
        var packets: [[UInt8]] = []
        var batch = PacketBatch(slotCapacity: 16, byteCapacity: 0)
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
