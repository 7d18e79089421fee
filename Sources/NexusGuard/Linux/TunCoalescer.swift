// SPDX-License-Identifier: MIT

package import CLinux
internal import Glibc
package import WireGuardProtocol

/// Joins neighbours of a flow into one write, so that the kernel handles up to 64 KiB at once.
///
/// The order within each flow is kept, and writes leave in the order of their first packets. A write that the
/// kernel splits again gives the same packets, byte for byte.
@safe
package struct TunCoalescer: ~Copyable {
    /// The size of the virtio header before each packet; 0 for a TUN without, which takes no joined packets.
    package let virtioByteCount: Int
    /// Whether UDP datagrams are joined as well, which the kernel can from 6.2 on.
    package let joinsUDP: Bool

    private var capacity = 0
    private var runs: UnsafeMutablePointer<TunRun>
    private var runCount = 0
    /// For each slot, the next slot of its run.
    private var nextSlots: UnsafeMutablePointer<Int>
    /// The flows that a packet can still be joined to, and the number of their run.
    private let flows: UnsafeMutablePointer<(key: TunFlowKey, run: Int)>
    private var flowCount = 0
    private var oldestFlow = 0
    private let pieces: UnsafeMutablePointer<iovec>
    /// The virtio header and the headers of a joined packet.
    private let joinedHeader: UnsafeMutableRawPointer
    /// Zeros, for packets that leave as they are; never written to.
    private let clearHeader: UnsafeMutableRawPointer

    /// A coalescer for a TUN with a virtio header of `virtioByteCount` bytes, 0 or from 10 to 64.
    package init(virtioByteCount: Int, joinsUDP: Bool) {
        precondition(
            virtioByteCount == 0 || 10...64 ~= virtioByteCount, "no virtio header has this size")
        self.virtioByteCount = virtioByteCount
        self.joinsUDP = joinsUDP
        runs = .allocate(capacity: 1)
        nextSlots = .allocate(capacity: 1)
        flows = .allocate(capacity: Self.flowCapacity)
        pieces = .allocate(capacity: TunRun.mostSegments + 2)
        joinedHeader = .allocate(byteCount: 256, alignment: 64)
        joinedHeader.initializeMemory(as: UInt8.self, repeating: 0, count: 256)
        clearHeader = .allocate(byteCount: 64, alignment: 64)
        clearHeader.initializeMemory(as: UInt8.self, repeating: 0, count: 64)
    }

    /// Writes every packet of the batch that is `ready`.
    ///
    /// - Parameter send: Makes one write of the pieces that it is given; returns a negative error number when
    ///   refused. A joined packet that is refused with EINVAL is given again packet by packet.
    package mutating func write(
        _ batch: borrowing PacketBatch, _ send: (UnsafeMutablePointer<iovec>, Int32) -> Int
    ) -> TunWriteResult {
        reserve(batch.slotCapacity)
        runCount = 0
        flowCount = 0
        oldestFlow = 0
        for slot in 0..<batch.count where batch.slots[slot].state == .ready {
            place(slot, batch.slots)
        }
        var result = TunWriteResult()
        for index in 0..<runCount {
            if runs[index].count > 1 {
                sendJoined(runs[index], batch.slots, send, &result)
            } else {
                sendAlone(batch.slots[runs[index].first], send, &result)
            }
        }
        return result
    }

    /// Puts a packet into a run.
    private mutating func place(_ slot: Int, _ slots: UnsafePointer<PacketSlot>) {
        let packet = UnsafeRawPointer(slots[slot].data)
        guard virtioByteCount > 0 else {
            startRun(slot, packet, TunFlowPacket(reading: packet, byteCount: 0))
            return
        }
        let headers = TunFlowPacket(reading: packet, byteCount: slots[slot].byteCount)
        switch headers.role {
        case .unknown:
            flowCount = 0
        case .addressesOnly:
            var index = 0
            while index < flowCount {
                if flows[index].key.hasSameAddresses(as: headers.key) {
                    removeFlow(index)
                } else {
                    index += 1
                }
            }
        case .alone:
            if let index = findFlow(headers.key) { removeFlow(index) }
        case .joinable:
            if headers.isUDP && !joinsUDP { break }
            placeJoinable(slot, packet, headers, slots)
            return
        }
        startRun(slot, packet, headers)
    }

    /// Puts a packet at the end of its flow's run, or starts a new run for the flow.
    private mutating func placeJoinable(
        _ slot: Int, _ packet: UnsafeRawPointer, _ headers: TunFlowPacket, _ slots: UnsafePointer<PacketSlot>
    ) {
        guard let index = findFlow(headers.key) else {
            startRun(slot, packet, headers)
            addFlow(headers.key)
            return
        }
        let run = flows[index].run
        let head = UnsafeRawPointer(slots[runs[run].first].data)
        // Checksums last: they cost a pass over the payload. A wrong one must stay visible to the receiver.
        if runs[run].accepts(packet, headers, after: head), verify(run, head),
            headers.hasCanonicalChecksums(packet)
        {
            nextSlots[runs[run].last] = slot
            runs[run].append(slot: slot, packet: packet, headers: headers)
        } else {
            startRun(slot, packet, headers)
            flows[index].run = runCount - 1
        }
    }

    private func verify(_ run: Int, _ head: UnsafeRawPointer) -> Bool {
        if runs[run].isVerified { return true }
        guard runs[run].head.hasCanonicalChecksums(head) else { return false }
        runs[run].isVerified = true
        return true
    }

    private mutating func startRun(_ slot: Int, _ packet: UnsafeRawPointer, _ headers: TunFlowPacket) {
        (runs + runCount).initialize(to: TunRun(slot: slot, packet: packet, headers: headers))
        runCount += 1
    }

    private func findFlow(_ key: TunFlowKey) -> Int? {
        for index in 0..<flowCount where flows[index].key == key { return index }
        return nil
    }

    /// Remembers that the flow's run is the last one; takes the place of the flow added longest ago when full.
    private mutating func addFlow(_ key: TunFlowKey) {
        var index = flowCount
        if flowCount < Self.flowCapacity {
            flowCount += 1
        } else {
            index = oldestFlow
            oldestFlow = (oldestFlow + 1) % Self.flowCapacity
        }
        (flows + index).initialize(to: (key, runCount - 1))
    }

    private mutating func removeFlow(_ index: Int) {
        flowCount -= 1
        flows[index] = flows[flowCount]
    }

    /// Writes one packet as it is.
    private func sendAlone(
        _ slot: PacketSlot, _ send: (UnsafeMutablePointer<iovec>, Int32) -> Int,
        _ result: inout TunWriteResult
    ) {
        var pieceCount: Int32 = 0
        if virtioByteCount > 0 {
            pieces[0] = iovec(iov_base: clearHeader, iov_len: virtioByteCount)
            pieceCount = 1
        }
        pieces[Int(pieceCount)] = iovec(iov_base: slot.data, iov_len: slot.byteCount)
        _ = attempt(pieceCount + 1, packets: 1, send, &result)
    }

    /// Writes a run as one packet.
    private func sendJoined(
        _ run: TunRun, _ slots: UnsafePointer<PacketSlot>,
        _ send: (UnsafeMutablePointer<iovec>, Int32) -> Int, _ result: inout TunWriteResult
    ) {
        let headerByteCount = run.head.headerByteCount
        writeJoinedHeader(run, slots[run.first].data)
        pieces[0] = iovec(iov_base: joinedHeader, iov_len: virtioByteCount + headerByteCount)
        var slot = run.first
        for index in 1...run.count {
            pieces[index] = iovec(
                iov_base: slots[slot].data + headerByteCount,
                iov_len: slots[slot].byteCount - headerByteCount)
            slot = nextSlots[slot]
        }
        if attempt(Int32(run.count + 1), packets: run.count, send, &result) { return }
        slot = run.first
        for _ in 0..<run.count {
            sendAlone(slots[slot], send, &result)
            slot = nextSlots[slot]
        }
    }

    /// Makes one write and counts its packets.
    ///
    /// - Returns: Whether that settles them; otherwise they are joined packets to be written one by one.
    private func attempt(
        _ pieceCount: Int32, packets: Int, _ send: (UnsafeMutablePointer<iovec>, Int32) -> Int,
        _ result: inout TunWriteResult
    ) -> Bool {
        guard !result.isGone else {
            result.droppedCount += packets
            return true
        }
        let error = Int32(truncatingIfNeeded: send(pieces, pieceCount))
        result.writeCount += 1
        if error >= 0 {
            result.packetCount += packets
            return true
        }
        if packets > 1, error == -EINVAL { return false }
        // Full queues and an interface that is down lose packets, as any link does; nothing here waits.
        if error == -EBADFD || error == -ENODEV || error == -ENXIO { result.isGone = true }
        result.droppedCount += packets
        return true
    }

    /// Writes the virtio header and the headers of a run, of which `packet` is the first.
    private func writeJoinedHeader(_ run: TunRun, _ packet: UnsafeRawPointer) {
        let head = run.head
        let total = UInt16(truncatingIfNeeded: head.headerByteCount + run.payloadByteCount)
        var virtio = VirtioHeader()
        virtio.flags = linux_virtio_needs_csum
        virtio.headerByteCount = UInt16(truncatingIfNeeded: head.headerByteCount)
        virtio.segmentByteCount = UInt16(truncatingIfNeeded: head.payloadByteCount)
        virtio.checksumStart = UInt16(truncatingIfNeeded: head.transportOffset)
        let headers = joinedHeader + virtioByteCount
        memcpy(headers, packet, head.headerByteCount)
        if head.isIPv6 {
            (headers + 4).storeBytes(of: (total - 40).bigEndian, as: UInt16.self)
        } else {
            (headers + 2).storeBytes(of: total.bigEndian, as: UInt16.self)
            (headers + 10).storeBytes(of: 0, as: UInt16.self)
            let checksum = ~InternetChecksum.fold(InternetChecksum.sum(headers, 20))
            (headers + 10).storeBytes(of: checksum, as: UInt16.self)
        }
        let start = headers + head.transportOffset
        let transportByteCount = total - UInt16(truncatingIfNeeded: head.transportOffset)
        if head.isUDP {
            virtio.segmentation = linux_virtio_gso_udp_l4
            virtio.checksumOffset = 6
            (start + 4).storeBytes(of: transportByteCount.bigEndian, as: UInt16.self)
        } else {
            virtio.segmentation = head.isIPv6 ? linux_virtio_gso_tcpv6 : linux_virtio_gso_tcpv4
            virtio.checksumOffset = 16
            if run.hasPush {
                let flags = (start + 13).load(as: UInt8.self)
                (start + 13).storeBytes(of: flags | TunFlowPacket.push, as: UInt8.self)
            }
        }
        let pseudoHeader =
            InternetChecksum.pseudoHeader(
                headers, isIPv6: head.isIPv6, transport: head.isUDP ? TunFlowPacket.udp : TunFlowPacket.tcp)
            &+ InternetChecksum.word(transportByteCount)
        (start + Int(virtio.checksumOffset)).storeBytes(
            of: InternetChecksum.fold(pseudoHeader), as: UInt16.self)
        virtio.write(to: joinedHeader)
    }

    /// Makes room for a batch's slots; allocates only when a batch is larger than any before.
    private mutating func reserve(_ slotCapacity: Int) {
        guard slotCapacity > capacity else { return }
        runs.deallocate()
        nextSlots.deallocate()
        capacity = slotCapacity
        runs = .allocate(capacity: capacity)
        nextSlots = .allocate(capacity: capacity)
        nextSlots.initialize(repeating: 0, count: capacity)
    }

    /// The number of flows that are joined at the same time.
    private static let flowCapacity = 16

    deinit {
        runs.deallocate()
        nextSlots.deallocate()
        flows.deallocate()
        pieces.deallocate()
        joinedHeader.deallocate()
        clearHeader.deallocate()
    }
}
