// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// Watches one interface by netlink: whether it is up, its MTU, and its end.
///
/// The first `poll` tells the state as it is, later ones only changes.
@safe
package struct LinkWatch: ~Copyable {
    /// The netlink socket, for epoll; it stays this value's own.
    package let descriptor: Int32
    private let index: Int32
    private let buffer: UnsafeMutableRawPointer
    private var isUp: Bool?
    private var mtu: Int?
    private var hasEnded = false
    /// Whether messages were lost since the state was asked for.
    private var hasLost = false

    /// The bytes of one message: far more than those about one interface have.
    private static let bufferByteCount = 32_768
    /// The messages of one `poll`, so that a flood of them cannot hold up the packets.
    private static let mostMessages = 64

    /// Watches the interface with a number in the current network namespace.
    ///
    /// - Throws: `SystemCallError`.
    package init(interfaceIndex: UInt32) throws(SystemCallError) {
        try self.init(adopting: Self.openSocket(), interfaceIndex: interfaceIndex)
    }

    /// Takes over a socket that `openSocket` gave, perhaps in another namespace.
    init(adopting descriptor: Int32, interfaceIndex: UInt32) {
        self.descriptor = descriptor
        index = Int32(bitPattern: interfaceIndex)
        buffer = .allocate(byteCount: Self.bufferByteCount, alignment: 16)
        // Subscribed first and asked then: no change in between is lost.
        ask()
    }

    /// A socket that is subscribed to changes of the links in the calling thread's namespace.
    static func openSocket() throws(SystemCallError) -> Int32 {
        let type = linux_netlink_socket_type
        let number = try SystemCall.run("socket AF_NETLINK") {
            socket(linux_af_netlink, type, linux_netlink_route)
        }
        var address = linux_netlink_address()
        address.family = UInt16(linux_af_netlink)
        address.groups = linux_rtmgrp_link
        do throws(SystemCallError) {
            try SystemCall.run("bind AF_NETLINK") {
                withUnsafeBytes(of: &address) { bytes in
                    let start = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
                    return bind(number, start, socklen_t(bytes.count))
                }
            }
        } catch {
            SystemCall.close(number)
            throw error
        }
        return number
    }

    /// Tells every change since the last call.
    ///
    /// Call it when the socket is readable. After `.removed` or `.moved` it tells nothing more.
    package mutating func poll(_ body: (LinkEvent) -> Void) {
        for _ in 0..<Self.mostMessages {
            var sender = linux_netlink_address()
            var senderByteCount = socklen_t(MemoryLayout<linux_netlink_address>.size)
            let (number, buffer) = (descriptor, buffer)
            let count = SystemCall.orNegativeErrno {
                withUnsafeMutableBytes(of: &sender) { bytes in
                    recvfrom(
                        number, buffer, Self.bufferByteCount, linux_msg_truncated,
                        bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &senderByteCount)
                }
            }
            if count == -Int(ENOBUFS) || count > Self.bufferByteCount {
                hasLost = true
                continue
            }
            if count < 0 {
                // Asked when the queue is empty: in a full one the answer would be lost as well.
                guard hasLost else { return }
                hasLost = false
                ask()
                continue
            }
            // Any process may send to this socket; only the kernel has the port 0.
            if sender.port == 0 { read(UnsafeRawBufferPointer(start: buffer, count: count), body) }
        }
    }

    /// Asks the kernel for the interface's state; the answer comes as a message.
    private func ask() {
        var query = linux_link_query()
        query.header.length = UInt32(MemoryLayout<linux_link_query>.size)
        query.header.type = linux_rtm_getlink
        query.header.flags = linux_nlm_f_request
        query.link.index = index
        let number = descriptor
        // A refusal is for want of memory only, and the next message or question mends it.
        _ = SystemCall.orNegativeErrno {
            withUnsafeBytes(of: &query) { send(number, $0.baseAddress, $0.count, linux_msg_dontwait) }
        }
    }

    /// Reads all messages of one datagram.
    private mutating func read(_ datagram: UnsafeRawBufferPointer, _ body: (LinkEvent) -> Void) {
        var rest = datagram[...]
        while !hasEnded, rest.count >= MemoryLayout<linux_netlink_header>.size {
            let bytes = UnsafeRawBufferPointer(rebasing: rest)
            let header = bytes.loadUnaligned(as: linux_netlink_header.self)
            let length = Int(header.length)
            guard length >= MemoryLayout<linux_netlink_header>.size, length <= bytes.count else { return }
            let payload = bytes[MemoryLayout<linux_netlink_header>.size..<length]
            let message = UnsafeRawBufferPointer(rebasing: payload)
            switch header.type {
            case linux_rtm_newlink: readLink(message, isDeleted: false, body)
            case linux_rtm_dellink: readLink(message, isDeleted: true, body)
            case linux_nlmsg_error: readError(message, body)
            default: break
            }
            rest = rest.dropFirst((length + 3) & ~3)
        }
    }

    private mutating func readError(_ message: UnsafeRawBufferPointer, _ body: (LinkEvent) -> Void) {
        guard message.count >= 4, message.loadUnaligned(as: Int32.self) == -ENODEV else { return }
        hasEnded = true
        body(.removed)
    }

    private mutating func readLink(
        _ message: UnsafeRawBufferPointer, isDeleted: Bool, _ body: (LinkEvent) -> Void
    ) {
        let linkByteCount = MemoryLayout<linux_link_message>.size
        guard message.count >= linkByteCount else { return }
        let link = message.loadUnaligned(as: linux_link_message.self)
        // Bridges send messages of their own family about their ports; those tell nothing of the link.
        guard link.index == index, link.family == UInt8(AF_UNSPEC) else { return }
        var newMTU: Int?
        var isMoved = false
        var rest = message[linkByteCount...]
        while rest.count >= MemoryLayout<linux_netlink_attribute>.size {
            let bytes = UnsafeRawBufferPointer(rebasing: rest)
            let attribute = bytes.loadUnaligned(as: linux_netlink_attribute.self)
            let length = Int(attribute.length)
            guard length >= MemoryLayout<linux_netlink_attribute>.size, length <= bytes.count else { break }
            switch attribute.type {
            case linux_ifla_mtu where length >= 8:
                newMTU = Int(bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            case linux_ifla_new_netnsid, linux_ifla_new_ifindex: isMoved = true
            default: break
            }
            rest = rest.dropFirst((length + 3) & ~3)
        }
        if isDeleted {
            hasEnded = true
            body(isMoved ? .moved : .removed)
            return
        }
        if let newMTU, newMTU != mtu {
            mtu = newMTU
            body(.mtu(newMTU))
        }
        let newIsUp = link.flags & UInt32(linux_iff_up) != 0
        if newIsUp != isUp {
            isUp = newIsUp
            body(newIsUp ? .up : .down)
        }
    }

    deinit {
        SystemCall.close(descriptor)
        buffer.deallocate()
    }
}
