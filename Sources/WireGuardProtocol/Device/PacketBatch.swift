// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

/// Where a packet of a batch stands.
package enum PacketState: Sendable {
    /// Put into the batch, not looked at yet.
    case fresh
    /// Planned: key and counter are set, the cipher comes next.
    case planned
    /// A handshake message or cookie reply, handled when the batch is committed.
    case control
    /// Outbound: a datagram to send. Inbound: an inner packet to deliver.
    case ready
    /// Done with: dropped, staged, or an authenticated keepalive.
    case finished

    /// Whether both are the same; inlined, since other modules ask for each packet.
    @inlinable @inline(__always)
    package static func == (left: PacketState, right: PacketState) -> Bool {
        switch (left, right) {
        case (.fresh, .fresh), (.planned, .planned), (.control, .control), (.ready, .ready),
            (.finished, .finished):
            true
        default: false
        }
    }
}

/// One packet of a batch.
@unsafe
package struct PacketSlot {
    /// The plaintext: the inner packet, in the slab, with room before and after it.
    package var data: UnsafeMutableRawPointer
    /// The size of the inner packet; after outbound planning it includes the padding.
    package var byteCount: Int
    /// Inbound: the datagram as received.
    package var datagram: UnsafeRawPointer
    /// Inbound: the size of the datagram as received.
    package var datagramByteCount: Int
    /// The transport key, valid from planning to the end of committing.
    package var key: UnsafeRawPointer
    /// The transport counter.
    package var counter: UInt64
    /// The peer's number in the device.
    package var peer: UInt32
    /// Outbound: the receiver index to write. Inbound: the one that was read.
    package var receiverIndex: UInt32
    /// The position of the packet's path in the batch's paths.
    package var path: Int
    /// The two ECN bits of the outer header, and for outbound packets of the inner header.
    package var congestion: UInt8
    /// Where the packet stands.
    package var state: PacketState
}

/// Up to a few hundred packets in one slab of memory that is allocated once.
///
/// A batch is filled, planned, sealed or opened, committed, sent or delivered, and emptied. Each packet has
/// the room around it that `PacketAEAD` asks for, so no packet moves between these steps.
@safe
package struct PacketBatch: ~Copyable {
    /// The number of packets that fit.
    package let slotCapacity: Int
    /// The number of packets in the batch.
    package private(set) var count = 0
    /// The packets' paths; neighbours with the same path share one.
    package private(set) var pathCount = 0

    /// The slots; those from `count` on are not initialised.
    @unsafe package let slots: UnsafeMutablePointer<PacketSlot>
    /// The paths; those from `pathCount` on are not initialised.
    private let paths: UnsafeMutablePointer<DatagramPath>
    /// Work space of the cipher, one job a slot.
    private let jobs: UnsafeMutablePointer<PacketAEADJob>
    private let slab: UnsafeMutableRawPointer
    private let slabByteCount: Int
    private var used = 0

    // Plain numbers: a constant of another module would be looked up for each packet.

    /// Room before each packet: what the cipher needs, among it the 16 bytes of the transport header.
    private static let headroom = 64
    /// Room after each packet: padding to 16 bytes, and what the cipher needs.
    private static let tailroom = 256 + 16

    /// The bytes of the slab that one packet takes.
    private static func footprint(_ byteCount: Int) -> Int {
        (headroom + byteCount + tailroom + 63) & ~63
    }

    /// Allocates an empty batch.
    ///
    /// - Parameters:
    ///   - slotCapacity: The number of packets that fit.
    ///   - byteCapacity: The bytes of packets that fit; always enough for one packet of 65,535 bytes.
    package init(slotCapacity: Int, byteCapacity: Int) {
        precondition(
            Self.headroom >= PacketAEAD.headroom && Self.tailroom >= PacketAEAD.tailroom + 16,
            "packets have the room that the cipher asks for")
        self.slotCapacity = slotCapacity
        slabByteCount = max(byteCapacity, 65_536) + slotCapacity * (Self.headroom + Self.tailroom + 64)
        unsafe slab = .allocate(byteCount: slabByteCount, alignment: 64)
        unsafe slots = .allocate(capacity: slotCapacity)
        unsafe paths = .allocate(capacity: slotCapacity)
        unsafe jobs = .allocate(capacity: slotCapacity)
    }

    /// Whether a packet of this size fits.
    package func hasRoom(for byteCount: Int, packets: Int = 1) -> Bool {
        count + packets <= slotCapacity
            && used + packets * (Self.headroom + Self.tailroom + 64) + byteCount <= slabByteCount
    }

    /// Adds a packet of `byteCount` bytes, whose contents the caller writes to the slot's `data`.
    ///
    /// - Parameters:
    ///   - congestion: The two ECN bits of the packet's header.
    ///   - datagram: For an inbound packet, the datagram that it comes from.
    ///   - path: For an inbound packet, a number that `addPath` gave.
    /// - Returns: The packet's address, or `nil` when the batch is full.
    package mutating func append(
        byteCount: Int, congestion: UInt8 = 0, datagram: UnsafeRawBufferPointer? = nil, path: Int = 0
    ) -> UnsafeMutableRawPointer? {
        let footprint = Self.footprint(byteCount)
        guard count < slotCapacity, used + footprint <= slabByteCount else { return nil }
        let data = unsafe slab + used + Self.headroom
        unsafe (slots + count).initialize(
            to: PacketSlot(
                data: data, byteCount: byteCount, datagram: datagram?.baseAddress ?? UnsafeRawPointer(data),
                datagramByteCount: datagram?.count ?? 0, key: UnsafeRawPointer(data), counter: 0, peer: .max,
                receiverIndex: 0, path: path, congestion: congestion, state: .fresh))
        used += footprint
        count += 1
        return unsafe data
    }

    /// Adds a datagram that was received, with room for its plaintext.
    ///
    /// 64 bytes before the datagram's ciphertext and 256 behind its end must be readable.
    ///
    /// - Returns: Whether it fitted.
    package mutating func append(
        datagram: UnsafeRawBufferPointer, congestion: UInt8, path: Int
    ) -> Bool {
        unsafe append(
            byteCount: max(0, datagram.count - 32), congestion: congestion, datagram: datagram, path: path)
            != nil
    }

    /// Adds a path, unless the last one added is the same.
    ///
    /// - Returns: Its number.
    package mutating func addPath(_ path: DatagramPath) -> Int {
        if pathCount > 0, unsafe paths[pathCount - 1] == path { return pathCount - 1 }
        precondition(pathCount < slotCapacity, "there are at most as many paths as packets")
        unsafe (paths + pathCount).initialize(to: path)
        pathCount += 1
        return pathCount - 1
    }

    /// The path with a number that `addPath` gave.
    package func path(_ number: Int) -> DatagramPath {
        precondition(number < pathCount, "no such path")
        return unsafe paths[number]
    }

    /// The datagram of an outbound packet that is `ready`: header, ciphertext and tag.
    package func sealedDatagram(_ index: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: slots[index].data - 16, count: slots[index].byteCount + 32)
    }

    /// Empties the batch.
    package mutating func removeAll() {
        count = 0
        pathCount = 0
        used = 0
    }

    /// Seals every planned packet in place and writes its transport header (section 5.4.6); all become `ready`.
    package mutating func seal() {
        let jobCount = unsafe collectJobs { slot in
            unsafe PacketAEADJob(
                key: slot.key, source: slot.data, destination: slot.data, counter: slot.counter,
                byteCount: slot.byteCount)
        }
        guard jobCount > 0 else { return }
        unsafe PacketAEAD.seal(UnsafeMutableBufferPointer(start: jobs, count: jobCount))
        for index in 0..<count where unsafe slots[index].state == .planned {
            let header = unsafe TransportData(
                receiverIndex: slots[index].receiverIndex, counter: slots[index].counter)
            unsafe header.writeHeader(into: slots[index].data - TransportData.headerByteCount)
            unsafe slots[index].state = .ready
        }
    }

    /// Opens every planned packet out of its datagram; those that are authentic become `ready`, the others
    /// stay `planned`.
    package mutating func open() {
        let jobCount = unsafe collectJobs { slot in
            unsafe PacketAEADJob(
                key: slot.key, source: slot.datagram + 16, destination: slot.data, counter: slot.counter,
                byteCount: slot.byteCount)
        }
        guard jobCount > 0 else { return }
        unsafe PacketAEAD.open(UnsafeMutableBufferPointer(start: jobs, count: jobCount))
        var job = 0
        for index in 0..<count where unsafe slots[index].state == .planned {
            if unsafe jobs[job].isAuthentic { unsafe slots[index].state = .ready }
            job += 1
        }
    }

    /// Writes one job for each planned packet, in order.
    private func collectJobs(_ make: (PacketSlot) -> PacketAEADJob) -> Int {
        var jobCount = 0
        for index in 0..<count where unsafe slots[index].state == .planned {
            unsafe (jobs + jobCount).initialize(to: make(slots[index]))
            jobCount += 1
        }
        return jobCount
    }

    deinit {
        unsafe slab.deallocate()
        unsafe slots.deallocate()
        unsafe paths.deallocate()
        unsafe jobs.deallocate()
    }
}
