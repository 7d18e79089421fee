// SPDX-License-Identifier: MIT

internal import Glibc
package import NexusGuard

/// The addresses that a server hands out, of one family.
package struct AddressPool: Hashable, Sendable {
    /// The network around the addresses.
    package let network: IPPrefix
    /// The server's own address in it.
    package let serverAddress: IPAddress
    /// The network's address as a number.
    private let base: UInt128
    /// The number of addresses of the network, less one.
    private let span: UInt128

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - network: At most 30 bits long for IPv4, 126 for IPv6.
    ///   - serverAddress: The server's address; `nil` takes the first of the network.
    /// - Throws: `AddressPoolError`.
    package init(network: IPPrefix, serverAddress: IPAddress? = nil) throws(AddressPoolError) {
        let bitCount = network.address.bitCount
        guard network.length > 0, network.length <= bitCount - 2, let base = Self.number(of: network.address)
        else { throw .unusableLength(network) }
        self.network = network
        self.base = base
        span = (UInt128(1) << UInt128(bitCount - network.length)) - 1
        self.serverAddress = serverAddress ?? Self.address(base + 1, isIPv6: bitCount == 128)
        guard network.contains(self.serverAddress), let own = Self.number(of: self.serverAddress),
            own != base, bitCount == 128 || own != base + span
        else { throw .unusableServerAddress(self.serverAddress, network) }
    }

    /// Whether the pool hands out IPv6 addresses.
    package var isIPv6: Bool { network.address.isIPv6 }

    /// The server's address with the length of the network.
    package var serverInterfaceAddress: InterfaceAddress {
        guard let address = InterfaceAddress(address: serverAddress, length: network.length) else {
            preconditionFailure("the length is the network's")
        }
        return address
    }

    /// Whether a device may have this address.
    package func offers(_ address: IPAddress) -> Bool {
        guard network.contains(address), address != serverAddress, let number = Self.number(of: address)
        else { return false }
        return number != base && (isIPv6 || number != base + span)
    }

    /// The lowest address that is free, or `nil` when none is.
    ///
    /// - Parameter used: The addresses of other devices; some may lie outside.
    package func firstFree(besides used: Set<IPAddress>) -> IPAddress? {
        // All zero bits are the network itself and IPv6's anycast address of routers; all one bits are IPv4's
        // broadcast address.
        let last = isIPv6 ? span : span - 1
        var offset: UInt128 = 1
        while offset <= last {
            let address = Self.address(base + offset, isIPv6: isIPv6)
            if address != serverAddress, !used.contains(address) { return address }
            offset += 1
        }
        return nil
    }

    /// The bits of an address as a number.
    private static func number(of address: IPAddress) -> UInt128? {
        var bytes = [UInt8](repeating: 0, count: address.bitCount / 8)
        guard inet_pton(address.isIPv6 ? AF_INET6 : AF_INET, address.description, &bytes) == 1 else {
            return nil
        }
        return bytes.reduce(0) { $0 << 8 | UInt128($1) }
    }

    private static func address(_ number: UInt128, isIPv6: Bool) -> IPAddress {
        isIPv6
            ? IPAddress(
                ipv6High: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number))
            : IPAddress(ipv4: UInt32(truncatingIfNeeded: number))
    }
}

/// Why a network is no pool.
package enum AddressPoolError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The network is too small for a server and a device, or is all addresses there are.
    case unusableLength(IPPrefix)
    /// The server cannot have this address in this network.
    case unusableServerAddress(IPAddress, IPPrefix)

    /// One sentence that names the culprit.
    package var description: String {
        switch self {
        case .unusableLength(let network):
            "\(network) cannot be a pool: its length must be from 1 to "
                + "\(network.address.bitCount - 2)"
        case .unusableServerAddress(let address, let network):
            "\(address) cannot be the server's address in \(network)"
        }
    }
}
