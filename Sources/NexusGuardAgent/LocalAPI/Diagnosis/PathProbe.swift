// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import NexusGuard

/// Asks the kernel how it would send to an address; no packet leaves the host.
enum PathProbe {
    /// The source address that the kernel chooses; `nil` when there is no route.
    static func source(to address: IPAddress, port: UInt16, mark: UInt32?) -> IPAddress? {
        connected(to: address, port: port, mark: mark) { descriptor in
            SocketName.local(of: descriptor)
        }
    }

    /// The largest packet on the way, in bytes, as the kernel knows it now.
    static func mtu(to address: IPAddress, port: UInt16, mark: UInt32?) -> Int? {
        connected(to: address, port: port, mark: mark) { descriptor in
            var value: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            let isIPv6 = address.isIPv6
            // IP_MTU and IPV6_MTU of <linux/in.h> and <linux/in6.h>.
            let (level, option): (Int32, Int32) = isIPv6 ? (41, 24) : (0, 14)
            return getsockopt(descriptor, level, option, &value, &length) == 0 ? Int(value) : nil
        }
    }

    private static func connected<Value>(
        to address: IPAddress, port: UInt16, mark: UInt32?, body: (Int32) -> Value?
    ) -> Value? {
        let descriptor = socket(address.isIPv6 ? AF_INET6 : AF_INET, linux_udp_socket_type, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        if var mark {
            // Without the privilege the tunnel's own route is asked for, which is better than no answer.
            setsockopt(
                descriptor, SOL_SOCKET, linux_so_mark, &mark, socklen_t(MemoryLayout<UInt32>.size))
        }
        guard SocketName.connect(descriptor, to: address, port: port) else { return nil }
        return body(descriptor)
    }
}

/// Addresses of sockets in the kernel's form.
enum SocketName {
    /// Connects a socket.
    static func connect(_ descriptor: Int32, to address: IPAddress, port: UInt16) -> Bool {
        guard let results = lookUp(address.description, port: "\(port)", flags: AI_NUMERICHOST) else {
            return false
        }
        defer { freeaddrinfo(results) }
        return Glibc.connect(descriptor, results.pointee.ai_addr, results.pointee.ai_addrlen) == 0
    }

    /// The local address of a socket.
    static func local(of descriptor: Int32) -> IPAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes -> IPAddress? in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                getsockname(descriptor, address, &length) == 0
            else { return nil }
            return text(address, length).flatMap { try? IPAddress($0) }
        }
    }

    /// The numeric address, without the zone of a link-local one.
    static func text(_ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> String? {
        var host = [CChar](repeating: 0, count: 128)
        guard getnameinfo(address, length, &host, 128, nil, 0, NI_NUMERICHOST) == 0 else { return nil }
        let text = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(text.prefix { $0 != "%" })
    }

    /// Resolves a name; the caller frees the list.
    static func lookUp(_ name: String, port: String?, flags: Int32) -> UnsafeMutablePointer<addrinfo>? {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = linux_datagram_socket_type
        var results: UnsafeMutablePointer<addrinfo>?
        return getaddrinfo(name, port, &hints, &results) == 0 ? results : nil
    }
}
