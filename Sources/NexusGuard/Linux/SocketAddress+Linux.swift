// SPDX-License-Identifier: MIT

internal import Glibc
internal import WireGuardProtocol

/// The number of bytes that hold a socket address of either family.
let socketAddressCapacity = MemoryLayout<sockaddr_in6>.size

extension IPAddress {
    /// Whether the address is IPv6 of link-local scope (fe80::/10), which is unique only on one interface.
    package var isLinkLocalIPv6: Bool { isIPv6 && high >> 54 == 0x3FA }

    /// Whether the address is a group (224.0.0.0/4 or ff00::/8) and so cannot be the source of a datagram.
    package var isMulticast: Bool { isIPv6 ? high >> 56 == 0xFF : high >> 60 == 0xE }

    /// Reads the 4 bytes of an IPv4 address in network order.
    init(ipv4Bytes bytes: UnsafeRawPointer) {
        self.init(ipv4: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
    }

    /// Reads the 16 bytes of an IPv6 address in network order.
    init(ipv6Bytes bytes: UnsafeRawPointer) {
        self.init(
            ipv6High: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    /// Writes the address in network order, 4 or 16 bytes.
    func store(to bytes: UnsafeMutableRawPointer) {
        if isIPv6 {
            bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        } else {
            bytes.storeBytes(of: UInt32(truncatingIfNeeded: high >> 32).bigEndian, as: UInt32.self)
        }
    }
}

extension SocketAddress {
    /// Reads a `sockaddr_in` or `sockaddr_in6`; `nil` when it is neither.
    init?(sockaddr bytes: UnsafeRawPointer, byteCount: Int) {
        guard byteCount >= MemoryLayout<sockaddr_in>.size else { return nil }
        let family = Int32(bytes.loadUnaligned(as: sa_family_t.self))
        let port = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        if family == AF_INET {
            self.init(address: IPAddress(ipv4Bytes: bytes + 4), port: port)
        } else if family == AF_INET6, byteCount >= MemoryLayout<sockaddr_in6>.size {
            let address = IPAddress(ipv6Bytes: bytes + 8)
            let scope = bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self)
            self.init(
                address: address, port: port, scopeIdentifier: address.isLinkLocalIPv6 ? scope : 0)
        } else {
            return nil
        }
    }

    /// Writes a `sockaddr_in` or `sockaddr_in6` into `socketAddressCapacity` bytes.
    ///
    /// - Returns: The number of bytes that it takes.
    func store(sockaddr bytes: UnsafeMutableRawPointer) -> socklen_t {
        let byteCount =
            address.isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        bytes.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        let family = sa_family_t(address.isIPv6 ? AF_INET6 : AF_INET)
        bytes.storeBytes(of: family, as: sa_family_t.self)
        bytes.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
        address.store(to: bytes + (address.isIPv6 ? 8 : 4))
        if address.isIPv6 { bytes.storeBytes(of: scopeIdentifier, toByteOffset: 24, as: UInt32.self) }
        return socklen_t(byteCount)
    }
}
