// SPDX-License-Identifier: MIT

/// The packets that wait for a handshake with a peer, oldest first.
@safe
struct StagedPackets: ~Copyable {
    /// One packet in memory of its own.
    @unsafe
    struct Packet {
        /// The inner packet.
        let bytes: UnsafeMutableRawBufferPointer
        /// The two ECN bits of its header.
        let congestion: UInt8
    }

    private var packets: [Packet] = unsafe []
    /// The bytes of all packets.
    private(set) var byteCount = 0

    /// No packets.
    init() {}

    /// The number of packets.
    var count: Int { unsafe packets.count }

    /// Whether none waits.
    var isEmpty: Bool { unsafe packets.isEmpty }

    /// Copies a packet to the end.
    mutating func append(_ bytes: UnsafeRawBufferPointer, congestion: UInt8) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        unsafe copy.copyMemory(from: bytes)
        unsafe packets.append(Packet(bytes: copy, congestion: congestion))
        byteCount += bytes.count
    }

    /// Drops the oldest packet.
    mutating func removeFirst() {
        guard unsafe !packets.isEmpty else { return }
        let packet = unsafe packets.removeFirst()
        byteCount -= unsafe packet.bytes.count
        unsafe packet.bytes.deallocate()
    }

    /// Calls `body` with each packet, oldest first, and drops them.
    mutating func drain(_ body: (UnsafeRawBufferPointer, UInt8) -> Void) {
        for index in unsafe packets.indices {
            unsafe body(UnsafeRawBufferPointer(packets[index].bytes), packets[index].congestion)
            unsafe packets[index].bytes.deallocate()
        }
        unsafe packets.removeAll(keepingCapacity: false)
        byteCount = 0
    }

    deinit {
        for index in unsafe packets.indices { unsafe packets[index].bytes.deallocate() }
    }
}
