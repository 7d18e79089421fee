// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import WireGuardProtocol

/// An IPv4 and an IPv6 socket on one port, either of which may be missing.
struct UDPSocketPair: ~Copyable {
    /// The IPv4 socket, or -1.
    let descriptor4: Int32
    /// The IPv6 socket, or -1.
    let descriptor6: Int32
    /// The port of both, or 0 for a closed pair.
    let port: UInt16
    /// What the kernel does for these sockets.
    let offload: UDPOffload

    /// The bytes that each socket may hold back in each direction, as wireguard-go asks for.
    static let bufferByteCount: Int32 = 7 << 20
    /// How often another port is tried when the kernel's choice for one family is taken in the other.
    private static let portAttempts = 100

    /// A closed pair.
    init() {
        descriptor4 = -1
        descriptor6 = -1
        port = 0
        offload = []
    }

    /// Opens both families on one port; for port 0 the kernel chooses one that is free in both.
    ///
    /// - Throws: `SystemCallError`: EADDRINUSE when the port is taken, EAFNOSUPPORT when the kernel has neither
    ///   family, EPERM when the mark is not zero and CAP_NET_ADMIN is missing.
    init(
        port wanted: UInt16, firewallMark: UInt32, offload wantedOffload: UDPOffload, faults: UDPFaults
    ) throws(SystemCallError) {
        var attempt = 1
        while true {
            let first = try Self.open(
                isIPv6: false, port: wanted, firewallMark: firewallMark, offload: wantedOffload,
                faults: faults)
            let second: Socket?
            do throws(SystemCallError) {
                second = try Self.open(
                    isIPv6: true, port: first?.port ?? wanted, firewallMark: firewallMark,
                    offload: wantedOffload, faults: faults)
            } catch {
                if let first { SystemCall.close(first.descriptor) }
                attempt += 1
                guard wanted == 0, error.errno == EADDRINUSE, attempt <= Self.portAttempts else {
                    throw error
                }
                continue
            }
            guard let any = first ?? second else {
                throw SystemCallError(call: "socket", errno: EAFNOSUPPORT)
            }
            descriptor4 = first?.descriptor ?? -1
            descriptor6 = second?.descriptor ?? -1
            port = any.port
            offload = (first?.offload ?? wantedOffload).intersection(second?.offload ?? wantedOffload)
            return
        }
    }

    /// Marks the packets of both sockets for the routing rules and the packet filter; 0 is no mark.
    ///
    /// - Throws: `SystemCallError` with EPERM, when CAP_NET_ADMIN is missing.
    borrowing func setFirewallMark(_ mark: UInt32) throws(SystemCallError) {
        for descriptor in [descriptor4, descriptor6] where descriptor >= 0 {
            try Self.set(descriptor, SOL_SOCKET, linux_so_mark, Int32(bitPattern: mark), "setsockopt SO_MARK")
        }
    }

    /// One of the two sockets.
    private struct Socket {
        let descriptor: Int32
        let port: UInt16
        let offload: UDPOffload
    }

    /// Opens the socket of one family, or returns `nil` when the kernel does not have the family.
    private static func open(
        isIPv6: Bool, port: UInt16, firewallMark: UInt32, offload: UDPOffload, faults: UDPFaults
    ) throws(SystemCallError) -> Socket? {
        let injected = faults.onSocket?(isIPv6)
        let result =
            injected.map { -$0 }
            ?? SystemCall.orNegativeErrno { socket(isIPv6 ? AF_INET6 : AF_INET, linux_udp_socket_type, 0) }
        if result == -EAFNOSUPPORT { return nil }
        guard result >= 0 else { throw SystemCallError(call: "socket", errno: -result) }
        do throws(SystemCallError) {
            try configure(result, isIPv6: isIPv6)
            if firewallMark != 0 {
                try set(
                    result, SOL_SOCKET, linux_so_mark, Int32(bitPattern: firewallMark), "setsockopt SO_MARK")
            }
            let enabled = UDPOffload.enable(offload, on: result)
            return Socket(
                descriptor: result, port: try bind(result, isIPv6: isIPv6, port: port), offload: enabled)
        } catch {
            SystemCall.close(result)
            throw error
        }
    }

    /// Sets what every socket needs: the addresses and traffic class of each datagram, and large buffers.
    private static func configure(_ descriptor: Int32, isIPv6: Bool) throws(SystemCallError) {
        if isIPv6 {
            let level = Int32(IPPROTO_IPV6)
            try set(descriptor, level, IPV6_V6ONLY, 1, "setsockopt IPV6_V6ONLY")
            try set(descriptor, level, IPV6_RECVPKTINFO, 1, "setsockopt IPV6_RECVPKTINFO")
            try set(descriptor, level, IPV6_RECVTCLASS, 1, "setsockopt IPV6_RECVTCLASS")
        } else {
            let level = Int32(IPPROTO_IP)
            try set(descriptor, level, IP_PKTINFO, 1, "setsockopt IP_PKTINFO")
            try set(descriptor, level, IP_RECVTOS, 1, "setsockopt IP_RECVTOS")
            // No "don't fragment" on the outer IPv4 header, as Linux's own WireGuard does it: a router with a
            // smaller link then cuts the datagram, where with the default it would drop it, and a network that
            // filters ICMP would leave the sender without a word of that.
            try set(descriptor, level, IP_MTU_DISCOVER, IP_PMTUDISC_DONT, "setsockopt IP_MTU_DISCOVER")
        }
        for (forced, plain) in [(linux_so_rcvbufforce, SO_RCVBUF), (linux_so_sndbufforce, SO_SNDBUF)] {
            var value = bufferByteCount
            let byteCount = socklen_t(MemoryLayout<Int32>.size)
            // The first goes beyond the system's limit but needs CAP_NET_ADMIN; the second stops at the limit.
            if setsockopt(descriptor, SOL_SOCKET, forced, &value, byteCount) != 0 {
                try set(descriptor, SOL_SOCKET, plain, value, "setsockopt SO_RCVBUF or SO_SNDBUF")
            }
        }
    }

    /// Binds to all addresses of the family, and returns the port.
    private static func bind(_ descriptor: Int32, isIPv6: Bool, port: UInt16) throws(SystemCallError)
        -> UInt16
    {
        let any = isIPv6 ? IPAddress(ipv6High: 0, low: 0) : IPAddress(ipv4: 0)
        let storage = UnsafeMutableRawPointer.allocate(byteCount: socketAddressCapacity, alignment: 8)
        defer { storage.deallocate() }
        var byteCount = SocketAddress(address: any, port: port).store(sockaddr: storage)
        let address = storage.assumingMemoryBound(to: sockaddr.self)
        try SystemCall.run("bind") { Glibc.bind(descriptor, address, byteCount) }
        byteCount = socklen_t(socketAddressCapacity)
        try SystemCall.run("getsockname") { getsockname(descriptor, address, &byteCount) }
        guard let bound = SocketAddress(sockaddr: storage, byteCount: Int(byteCount)) else {
            throw SystemCallError(call: "getsockname", errno: EAFNOSUPPORT)
        }
        return bound.port
    }

    private static func set(
        _ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32, _ name: String
    ) throws(SystemCallError) {
        var value = value
        try SystemCall.run(name) {
            setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    deinit {
        if descriptor4 >= 0 { SystemCall.close(descriptor4) }
        if descriptor6 >= 0 { SystemCall.close(descriptor6) }
    }
}
