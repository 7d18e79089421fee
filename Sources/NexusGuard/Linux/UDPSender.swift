// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import WireGuardProtocol

/// Sends the datagrams of batches, neighbours with one destination and size in one call.
///
/// **A full socket.** The kernel refuses a datagram (EAGAIN, ENOBUFS) when what was sent before has not left.
/// The thread must not wait long, because it also receives: it waits up to one millisecond at a time and four
/// in one call, and then drops and reports what is still refused, as a full queue on the way would do.
///
/// **Segmentation.** When a call with many datagrams is refused for a reason that may lie in the segmentation,
/// the same datagrams go one by one and in order, and the destination is remembered if that works.
///
/// **This host's address.** When a call that names it is refused for a reason that may lie in it, the same
/// datagrams go without it.
struct UDPSender: ~Copyable {
    /// The most datagrams in one call; kernels before 6.8 take no more.
    static let trainCapacity = 64
    /// The most bytes in one call: the payload of the largest IPv4 packet.
    static let trainByteCapacity = 65_507
    /// How many milliseconds one call waits for a full socket in all.
    private static let waitsPerCall = 4

    /// Faults that a test injects.
    var faults = UDPFaults()
    private var refusals = SegmentationRefusals()
    /// How many more milliseconds the present call may wait.
    private var waitsLeft = 0

    private let message: UnsafeMutablePointer<msghdr>
    /// One entry a datagram.
    private let vectors: UnsafeMutablePointer<iovec>
    /// The positions of the datagrams in the batch.
    private let members: UnsafeMutablePointer<Int>
    private let control: UnsafeMutableRawPointer
    private let name: UnsafeMutableRawPointer

    /// What the datagrams of one call have in common.
    private struct Train {
        let descriptor: Int32
        let path: DatagramPath
        let trafficClass: UInt8
        /// The number of datagrams, in `vectors` from the start.
        var count: Int
        /// The size of each datagram but perhaps the last.
        var segmentByteCount: Int
        var byteCount: Int
        /// Whether this host's address is named; false once the kernel refused it.
        var namesSource: Bool

        /// A train of `count` datagrams of one size, along a path.
        init(
            along path: DatagramPath, trafficClass: UInt8, through sockets: borrowing UDPSocketPair,
            count: Int = 0, segmentByteCount: Int = 0
        ) {
            descriptor = path.remote.address.isIPv6 ? sockets.descriptor6 : sockets.descriptor4
            self.path = path
            self.trafficClass = trafficClass
            self.count = count
            self.segmentByteCount = segmentByteCount
            byteCount = count * segmentByteCount
            namesSource = path.localAddress != nil
        }
    }

    /// Allocates what the calls need.
    init() {
        message = .allocate(capacity: 1)
        message.initialize(to: msghdr())
        vectors = .allocate(capacity: Self.trainCapacity)
        vectors.initialize(repeating: iovec(), count: Self.trainCapacity)
        members = .allocate(capacity: Self.trainCapacity)
        members.initialize(repeating: 0, count: Self.trainCapacity)
        control = .allocate(byteCount: ControlWriter.capacity, alignment: 8)
        name = .allocate(byteCount: socketAddressCapacity, alignment: 8)
    }

    /// Sends every `ready` slot of an outbound batch, in order; those that the kernel refuses become `finished`.
    mutating func send(
        _ batch: inout PacketBatch, through sockets: borrowing UDPSocketPair, at now: Instant,
        report: (_ peer: UInt32, SendProblem) -> Void
    ) {
        waitsLeft = Self.waitsPerCall
        var next = 0
        while next < batch.count {
            guard batch.slots[next].state == .ready else {
                next += 1
                continue
            }
            let slot = batch.slots + next
            let path = batch.path(slot.pointee.path)
            let peer = slot.pointee.peer
            var train = Train(along: path, trafficClass: slot.pointee.congestion & 3, through: sockets)
            let maySegment =
                sockets.offload.contains(.segmentation) && !refusals.holds(path.remote.address, at: now)
            next = gather(batch, from: next, into: &train, limit: maySegment ? Self.trainCapacity : 1)
            let namedSource = train.namesSource
            send(&train, batch, peer, at: now, report)
            if namedSource && !train.namesSource { report(peer, .sourceRefused) }
        }
    }

    /// Sends one datagram.
    mutating func send(
        _ bytes: UnsafeRawBufferPointer, path: DatagramPath, trafficClass: UInt8,
        through sockets: borrowing UDPSocketPair
    ) -> SendOutcome {
        waitsLeft = Self.waitsPerCall
        var train = Train(
            along: path, trafficClass: trafficClass, through: sockets, count: 1, segmentByteCount: bytes.count
        )
        vectors[0] = iovec(
            iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
        let error = deliver(&train, from: 0, count: 1)
        guard error == 0 else { return .failed(errno: error) }
        return path.localAddress != nil && !train.namesSource ? .sentWithoutSource : .sent
    }

    /// Sends the datagram of an outbox at `first`, and those behind it that can leave in the same call.
    ///
    /// Under a flood from one address there are many: the cookie replies to it.
    ///
    /// - Returns: How many datagrams that were, at least one, and what became of them.
    mutating func send(
        _ outbox: borrowing Outbox, from first: Int, through sockets: borrowing UDPSocketPair, at now: Instant
    ) -> (count: Int, outcome: SendOutcome) {
        let entry = outbox.entries[first]
        let maySegment =
            sockets.offload.contains(.segmentation) && !refusals.holds(entry.path.remote.address, at: now)
        var count = 1
        while maySegment, count < Self.trainCapacity, first + count < outbox.entries.count,
            (count + 1) * entry.byteCount <= Self.trainByteCapacity,
            outbox.entries[first + count].leavesLike(entry)
        {
            count += 1
        }
        guard count > 1 else {
            let bytes = outbox.bytes(of: entry)
            return (1, send(bytes, path: entry.path, trafficClass: entry.trafficClass, through: sockets))
        }
        waitsLeft = Self.waitsPerCall
        var train = Train(
            along: entry.path, trafficClass: entry.trafficClass, through: sockets, count: count,
            segmentByteCount: entry.byteCount)
        for index in 0..<count {
            let bytes = outbox.bytes(of: outbox.entries[first + index])
            vectors[index] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
        }
        let error = deliver(&train, from: 0, count: count)
        if error == 0 {
            refusals.remove(entry.path.remote.address)
            return (count, train.namesSource || entry.path.localAddress == nil ? .sent : .sentWithoutSource)
        }
        guard Self.mayLieInSegmentation(error) else { return (count, .failed(errno: error)) }
        let outcome = send(
            outbox.bytes(of: entry), path: entry.path, trafficClass: entry.trafficClass, through: sockets)
        // Where a single datagram fails too, the fault was not in the segmentation.
        if case .failed = outcome { return (1, outcome) }
        _ = refusals.insert(entry.path.remote.address, at: now)
        return (1, outcome)
    }

    /// Collects the datagram at `start` and the ready ones behind it that can leave in the same call.
    ///
    /// - Returns: The position where the next call goes on.
    private func gather(
        _ batch: borrowing PacketBatch, from start: Int, into train: inout Train, limit: Int
    ) -> Int {
        let first = batch.slots + start
        train.segmentByteCount = batch.sealedDatagram(start).count
        var index = start
        while index < batch.count, train.count < limit {
            let slot = batch.slots + index
            guard slot.pointee.state == .ready else {
                index += 1
                continue
            }
            let datagram = batch.sealedDatagram(index)
            guard slot.pointee.path == first.pointee.path, slot.pointee.peer == first.pointee.peer,
                (slot.pointee.congestion ^ first.pointee.congestion) & 3 == 0,
                datagram.count <= train.segmentByteCount,
                train.count == 0 || train.byteCount + datagram.count <= Self.trainByteCapacity
            else { break }
            vectors[train.count] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: datagram.baseAddress), iov_len: datagram.count)
            members[train.count] = index
            train.count += 1
            train.byteCount += datagram.count
            index += 1
            // Only the last may be shorter.
            if datagram.count < train.segmentByteCount { break }
        }
        return index
    }

    /// Sends a train in one call or, if the kernel does not want that, one by one.
    private mutating func send(
        _ train: inout Train, _ batch: borrowing PacketBatch, _ peer: UInt32, at now: Instant,
        _ report: (UInt32, SendProblem) -> Void
    ) {
        let error = deliver(&train, from: 0, count: train.count)
        if error == 0 {
            if train.count > 1 { refusals.remove(train.path.remote.address) }
            return
        }
        guard train.count > 1, Self.mayLieInSegmentation(error) else {
            for index in 0..<train.count { batch.slots[members[index]].state = .finished }
            report(peer, .dropped(datagramCount: train.count, errno: error))
            return
        }
        var sentCount = 0
        for index in 0..<train.count {
            let singleError = deliver(&train, from: index, count: 1)
            if singleError == 0 {
                sentCount += 1
            } else {
                batch.slots[members[index]].state = .finished
                report(peer, .dropped(datagramCount: 1, errno: singleError))
            }
        }
        // Where single datagrams fail too, the fault was not in the segmentation.
        let address = train.path.remote.address
        if sentCount > 0, refusals.insert(address, at: now) {
            report(peer, .segmentationRefused(address, errno: error))
        }
    }

    /// Makes one call for a part of the train, and a second without this host's address when that may help.
    ///
    /// - Returns: Zero, or the error number.
    private mutating func deliver(_ train: inout Train, from first: Int, count: Int) -> Int32 {
        let error = attempt(train, from: first, count: count)
        guard error != 0, train.namesSource, Self.mayLieInSource(error) else { return error }
        train.namesSource = false
        let secondError = attempt(train, from: first, count: count)
        if secondError != 0 { train.namesSource = true }
        return secondError
    }

    /// Makes one call for a part of the train; repeats it while the socket is full and there is time.
    ///
    /// - Returns: Zero, or the error number.
    private mutating func attempt(_ train: Train, from first: Int, count: Int) -> Int32 {
        guard train.descriptor >= 0 else { return EAFNOSUPPORT }
        let isIPv6 = train.path.remote.address.isIPv6
        var writer = ControlWriter(control)
        if train.namesSource { writer.appendSource(of: train.path) }
        if train.trafficClass != 0 { writer.appendTrafficClass(train.trafficClass, isIPv6: isIPv6) }
        if count > 1 { writer.appendSegmentSize(train.segmentByteCount) }
        message.pointee.msg_name = name
        message.pointee.msg_namelen = train.path.remote.store(sockaddr: name)
        message.pointee.msg_iov = vectors + first
        message.pointee.msg_iovlen = count
        message.pointee.msg_control = writer.byteCount > 0 ? control : nil
        message.pointee.msg_controllen = writer.byteCount
        message.pointee.msg_flags = 0
        while true {
            let error = sendMessage(train, from: first, count: count)
            guard error == EAGAIN || error == ENOBUFS, waitsLeft > 0 else { return error }
            waitsLeft -= 1
            var poller = pollfd(fd: train.descriptor, events: Int16(POLLOUT), revents: 0)
            _ = SystemCall.orNegativeErrno { poll(&poller, 1, 1) }
        }
    }

    /// Hands the prepared message to the kernel.
    private func sendMessage(_ train: Train, from first: Int, count: Int) -> Int32 {
        if let onSend = faults.onSend {
            var byteCount = 0
            for index in first..<(first + count) { byteCount += vectors[index].iov_len }
            let described = UDPFaults.SendAttempt(
                datagramCount: count, byteCount: byteCount, namesSource: train.namesSource)
            if let error = onSend(described) { return error }
        }
        let result = SystemCall.orNegativeErrno { sendmsg(train.descriptor, message, linux_msg_nosignal) }
        return result < 0 ? Int32(-result) : 0
    }

    /// Whether a refusal may be about many datagrams in one call.
    ///
    /// EIO: the device cannot compute checksums. EINVAL and EMSGSIZE: a datagram is larger than the link, which
    /// a single one may be. The others: the kernel or a filter in it knows no segmentation.
    private static func mayLieInSegmentation(_ error: Int32) -> Bool {
        error == EIO || error == EINVAL || error == EMSGSIZE || error == EOPNOTSUPP || error == ENOPROTOOPT
    }

    /// Whether a refusal may be about the named address of this host: it is gone, or its interface is.
    private static func mayLieInSource(_ error: Int32) -> Bool {
        error == EINVAL || error == EADDRNOTAVAIL || error == ENETUNREACH || error == EHOSTUNREACH
            || error == ENODEV || error == ENXIO || error == ENETDOWN
    }

    deinit {
        message.deallocate()
        vectors.deallocate()
        members.deallocate()
        control.deallocate()
        name.deallocate()
    }
}
