// SPDX-License-Identifier: MIT

internal import CLinux
internal import NexusGuard
internal import WireGuardProtocol
internal import WireGuardSimulation

/// TCP packets between the two ends, alone or as one read of many from a TUN with virtio headers.
struct SyntheticSegment: ~Copyable {
    /// The size of each packet in bytes.
    let packetByteCount: Int
    /// The most packets that one read can hold.
    let mostInOneRead: Int
    /// One packet from the first end, one from the second.
    private let packets: UnsafeMutableRawPointer
    /// A read of `mostInOneRead` packets; the headers are written anew for each read.
    private let read: UnsafeMutableRawPointer

    private static let headerByteCount = 40

    /// Makes packets of this size, and reads of at most `count` of them.
    init(packetByteCount: Int, count: Int) {
        self.packetByteCount = packetByteCount
        let payload = packetByteCount - Self.headerByteCount
        mostInOneRead = max(1, min(count, (65_535 - Self.headerByteCount) / payload))
        let readByteCount = Self.headerByteCount + mostInOneRead * payload
        packets = .allocate(byteCount: 2 * packetByteCount, alignment: 64)
        read = .allocate(byteCount: readByteCount, alignment: 64)
        for index in 0..<readByteCount {
            read.storeBytes(of: UInt8(truncatingIfNeeded: index &* 7), toByteOffset: index, as: UInt8.self)
        }
        for isFirst in [true, false] {
            let packet = packets + (isFirst ? 0 : packetByteCount)
            packet.copyMemory(from: read, byteCount: packetByteCount)
            Self.writeHeaders(packet, byteCount: packetByteCount, fromFirst: isFirst)
        }
    }

    /// Copies one packet.
    func writePacket(to target: UnsafeMutableRawPointer, fromFirst: Bool) {
        target.copyMemory(from: packets + (fromFirst ? 0 : packetByteCount), byteCount: packetByteCount)
    }

    /// Calls `body` with a read of `count` packets, as the kernel gives it.
    func withRead<Result>(
        of count: Int, fromFirst: Bool,
        _ body: (_ bytes: UnsafeMutableRawPointer, _ byteCount: Int, VirtioHeader) -> Result
    ) -> Result {
        let payload = packetByteCount - Self.headerByteCount
        let byteCount = Self.headerByteCount + count * payload
        Self.writeHeaders(read, byteCount: byteCount, fromFirst: fromFirst)
        var header = VirtioHeader()
        header.flags = linux_virtio_needs_csum
        header.segmentation = count > 1 ? linux_virtio_gso_tcpv4 : linux_virtio_gso_none
        header.headerByteCount = UInt16(Self.headerByteCount)
        header.segmentByteCount = UInt16(truncatingIfNeeded: count > 1 ? payload : 0)
        header.checksumStart = 20
        header.checksumOffset = 16
        return body(read, byteCount, header)
    }

    /// Writes headers of IPv4 and TCP; the TCP checksum is the sum of the pseudo-header only.
    private static func writeHeaders(_ packet: UnsafeMutableRawPointer, byteCount: Int, fromFirst: Bool) {
        let source = EngineEnd.innerAddress(isFirst: fromFirst)
        let destination = EngineEnd.innerAddress(isFirst: !fromFirst)
        packet.storeBytes(of: UInt16(0x4500).bigEndian, as: UInt16.self)
        store(UInt16(truncatingIfNeeded: byteCount), to: packet + 2)
        store(1, to: packet + 4)
        // Don't fragment; then time to live 64 and TCP.
        store(0x4000, to: packet + 6)
        store(0x4006, to: packet + 8)
        store(0, to: packet + 10)
        (packet + 12).storeBytes(
            of: UInt32(truncatingIfNeeded: source.high >> 32).bigEndian, as: UInt32.self)
        (packet + 16).storeBytes(
            of: UInt32(truncatingIfNeeded: destination.high >> 32).bigEndian, as: UInt32.self)
        let checksum = ~InternetChecksum.fold(InternetChecksum.sum(packet, 20))
        (packet + 10).storeBytes(of: checksum, as: UInt16.self)
        store(40_000, to: packet + 20)
        store(443, to: packet + 22)
        (packet + 24).storeBytes(of: UInt32(1).bigEndian, as: UInt32.self)
        (packet + 28).storeBytes(of: UInt32(1).bigEndian, as: UInt32.self)
        // A header of 20 bytes with the flag ACK, and a window.
        store(0x5010, to: packet + 32)
        store(0xFFFF, to: packet + 34)
        store(0, to: packet + 38)
        let pseudoHeader =
            InternetChecksum.pseudoHeader(packet, isIPv6: false, transport: 6)
            &+ InternetChecksum.word(UInt16(truncatingIfNeeded: byteCount - 20))
        (packet + 36).storeBytes(of: InternetChecksum.fold(pseudoHeader), as: UInt16.self)
    }

    private static func store(_ number: UInt16, to position: UnsafeMutableRawPointer) {
        position.storeBytes(of: number.bigEndian, as: UInt16.self)
    }

    deinit {
        packets.deallocate()
        read.deallocate()
    }
}
