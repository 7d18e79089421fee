// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
package import WireGuardProtocol

/// Why an endpoint has no socket address at present.
package enum EndpointResolutionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No interface has this name or number.
    case unknownInterface(String)
    /// The name service gave no address; `isTemporary` says whether asking again later may help.
    case lookupFailed(host: String, reason: String, isTemporary: Bool)

    /// One sentence that names the endpoint's part.
    package var description: String {
        switch self {
        case .unknownInterface(let zone): "there is no interface '\(zone)'"
        case .lookupFailed(let host, let reason, _): "'\(host)' has no address: \(reason)"
        }
    }
}

/// Turns configured endpoints into socket addresses.
package enum EndpointResolver {
    /// Finds the address of an endpoint; of a host name's addresses the one that the name service puts first.
    ///
    /// Blocks for as long as the name service takes, so it is not for the data path; an endpoint with an address
    /// blocks for nothing. An IPv4 address in IPv6 form (`::ffff:192.0.2.1`) becomes IPv4, since the IPv6
    /// socket does not carry it. A zone counts only for link-local addresses.
    ///
    /// - Throws: `EndpointResolutionError`.
    package static func resolve(
        _ endpoint: Endpoint
    ) throws(EndpointResolutionError) -> SocketAddress {
        switch endpoint.host {
        case .address(let address, let zone):
            var scope: UInt32 = 0
            if let zone, address.isLinkLocalIPv6 { scope = try interfaceIndex(of: zone) }
            return unmapped(SocketAddress(address: address, port: endpoint.port, scopeIdentifier: scope))
        case .name(let name):
            return unmapped(try look(up: name, port: endpoint.port))
        }
    }

    /// The number of an interface that is given by name or by number.
    private static func interfaceIndex(of zone: String) throws(EndpointResolutionError) -> UInt32 {
        let index = if_nametoindex(zone)
        if index != 0 { return index }
        // A number need not name an interface yet: the kernel judges it when a datagram is sent.
        guard let number = UInt32(zone), number > 0 else { throw .unknownInterface(zone) }
        return number
    }

    private static func look(
        up name: String, port: UInt16
    ) throws(EndpointResolutionError) -> SocketAddress {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = linux_datagram_socket_type
        hints.ai_protocol = Int32(IPPROTO_UDP)
        var first: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, nil, &hints, &first)
        guard status == 0 else {
            let systemErrno = errno
            let reason =
                status == EAI_SYSTEM
                ? SystemCallError(call: "getaddrinfo", errno: systemErrno).description
                : String(cString: gai_strerror(status))
            throw .lookupFailed(
                host: name, reason: reason, isTemporary: status == EAI_AGAIN || status == EAI_SYSTEM)
        }
        defer { freeaddrinfo(first) }
        var entry = first
        while let current = entry {
            if let bytes = current.pointee.ai_addr,
                let found = SocketAddress(sockaddr: bytes, byteCount: Int(current.pointee.ai_addrlen))
            {
                return SocketAddress(
                    address: found.address, port: port, scopeIdentifier: found.scopeIdentifier)
            }
            entry = current.pointee.ai_next
        }
        throw .lookupFailed(
            host: name, reason: "it has neither an IPv4 nor an IPv6 address", isTemporary: false)
    }

    private static func unmapped(_ address: SocketAddress) -> SocketAddress {
        let bits = address.address
        guard bits.isIPv6, bits.high == 0, bits.low >> 32 == 0xFFFF else { return address }
        return SocketAddress(
            address: IPAddress(ipv4: UInt32(truncatingIfNeeded: bits.low)), port: address.port)
    }
}
