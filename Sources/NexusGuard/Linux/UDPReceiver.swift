// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import WireGuardProtocol

/// The memory that datagrams are received into, and the loop that fills it.
///
/// The area is 8 times 64 KiB, allocated once. Each receive call of the kernel gets 64 KiB at the first free
/// place and takes up only what arrived, so 300 datagrams of a full Ethernet frame fit, or seven coalesced ones
/// of the largest size. Datagrams lie close together: opening one reads up to 64 bytes before and 256 behind it
/// but writes elsewhere, so a neighbour's bytes serve as that room, and only the ends of the area have gaps.
struct UDPReceiver: ~Copyable {
    /// Readable bytes before the first datagram.
    private static let frontGap = 64
    /// Readable bytes behind the last datagram.
    private static let backGap = 256
    /// What one receive call may bring; the kernel never brings more.
    private static let datagramCapacity = 65_536
    /// The bytes for datagrams.
    private static let areaByteCount = 8 * datagramCapacity
    /// How many refusals one call puts up with before it goes back to wait.
    private static let errorsPerCall = 16

    private let area: UnsafeMutableRawPointer
    private let message: UnsafeMutablePointer<msghdr>
    private let vector: UnsafeMutablePointer<iovec>
    private let control: UnsafeMutableRawPointer
    private let name: UnsafeMutableRawPointer
    /// The first free byte of the area.
    private var used = 0
    /// Datagrams in the area that the batch had no room for.
    private var pending = Pending()

    /// A coalesced datagram that is being cut.
    private struct Pending {
        var datagramCount = 0
        var offset = 0
        var end = 0
        var segmentByteCount = 0
        var congestion: UInt8 = 0
        var path = DatagramPath(remote: SocketAddress(address: IPAddress(ipv4: 0), port: 0))
    }

    /// Allocates the area.
    init() {
        let byteCount = Self.frontGap + Self.areaByteCount + Self.backGap
        let start = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
        // Bytes around a datagram are read before any datagram was there.
        start.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        area = start + Self.frontGap
        message = .allocate(capacity: 1)
        message.initialize(to: msghdr())
        vector = .allocate(capacity: 1)
        vector.initialize(to: iovec())
        control = .allocate(byteCount: ReceivedControl.capacity, alignment: 8)
        name = .allocate(byteCount: socketAddressCapacity, alignment: 8)
    }

    /// Starts a new round: the bytes of the datagrams handed out before are given up.
    ///
    /// Datagrams that were received but did not fit into the last batch come first.
    mutating func startRound(_ batch: inout PacketBatch, _ result: inout UDPReceiveResult) {
        used = pending.datagramCount > 0 ? Self.roundedUp(pending.end) : 0
        result.hasMore = !cutPending(into: &batch, &result)
    }

    /// Forgets datagrams that did not fit into the last batch.
    mutating func discardPending() {
        pending.datagramCount = 0
    }

    /// Receives from one socket until it is empty or there is no more room.
    ///
    /// - Parameter once: Whether one call that brings datagrams is enough.
    mutating func drain(
        _ descriptor: Int32, into batch: inout PacketBatch, once: Bool, _ result: inout UDPReceiveResult
    ) {
        while !result.hasMore {
            guard batch.count < batch.slotCapacity, used + Self.datagramCapacity <= Self.areaByteCount else {
                result.hasMore = true
                return
            }
            let received = receiveOnce(descriptor)
            if received < 0 {
                if received == -Int(EAGAIN) { return }
                // An ICMP error concerns one destination, and reading it clears it.
                result.errorCount += 1
                result.lastErrno = Int32(-received)
                if result.errorCount >= Self.errorsPerCall { return }
                continue
            }
            guard note(received) else {
                result.errorCount += 1
                result.lastErrno = EMSGSIZE
                continue
            }
            used = Self.roundedUp(used + received)
            result.hasMore = !cutPending(into: &batch, &result)
            if once { return }
        }
    }

    /// Makes one receive call into the free part of the area; a negative result is an error number.
    private func receiveOnce(_ descriptor: Int32) -> Int {
        vector.pointee = iovec(iov_base: area + used, iov_len: Self.datagramCapacity)
        message.pointee.msg_name = name
        message.pointee.msg_namelen = socklen_t(socketAddressCapacity)
        message.pointee.msg_iov = vector
        message.pointee.msg_iovlen = 1
        message.pointee.msg_control = control
        message.pointee.msg_controllen = ReceivedControl.capacity
        message.pointee.msg_flags = 0
        return SystemCall.orNegativeErrno { recvmsg(descriptor, message, 0) }
    }

    /// Reads the addresses and control messages of what was received into `pending`.
    ///
    /// - Returns: Whether it is whole and has a sender.
    private mutating func note(_ byteCount: Int) -> Bool {
        guard message.pointee.msg_flags & linux_msg_truncated == 0,
            let remote = SocketAddress(sockaddr: name, byteCount: Int(message.pointee.msg_namelen))
        else { return false }
        let received = ReceivedControl(control, byteCount: message.pointee.msg_controllen)
        let segment = received.segmentByteCount
        pending.offset = used
        pending.end = used + byteCount
        pending.segmentByteCount = segment > 0 && segment < byteCount ? segment : byteCount
        // An empty datagram is one too: the device counts it as malformed.
        pending.datagramCount = byteCount == 0 ? 1 : (byteCount - 1) / pending.segmentByteCount + 1
        pending.congestion = received.congestion
        pending.path = DatagramPath(
            remote: remote, localAddress: received.localAddress, interfaceIndex: received.interfaceIndex)
        return true
    }

    /// Adds the pending datagrams to the batch, as many as fit.
    ///
    /// - Returns: Whether none is left.
    private mutating func cutPending(
        into batch: inout PacketBatch, _ result: inout UDPReceiveResult
    ) -> Bool {
        guard pending.datagramCount > 0 else { return true }
        guard batch.count < batch.slotCapacity else { return false }
        let path = batch.addPath(pending.path)
        while pending.datagramCount > 0 {
            let byteCount = min(pending.segmentByteCount, pending.end - pending.offset)
            let datagram = UnsafeRawBufferPointer(start: area + pending.offset, count: byteCount)
            guard batch.append(datagram: datagram, congestion: pending.congestion, path: path) else {
                return false
            }
            pending.offset += byteCount
            pending.datagramCount -= 1
            result.datagramCount += 1
        }
        return true
    }

    private static func roundedUp(_ offset: Int) -> Int { (offset + 63) & ~63 }

    deinit {
        (area - Self.frontGap).deallocate()
        message.deallocate()
        vector.deallocate()
        control.deallocate()
        name.deallocate()
    }
}
