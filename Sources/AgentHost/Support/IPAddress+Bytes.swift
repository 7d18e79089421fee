// SPDX-License-Identifier: MIT

internal import Glibc
package import NexusGuard

extension IPAddress {
    /// The 4 or 16 bytes of the address in network order.
    package var networkBytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        // The text form of an address is one that the system reads.
        _ = inet_pton(isIPv6 ? AF_INET6 : AF_INET, description, &bytes)
        return bytes
    }

    /// The address of 4 or 16 bytes in network order; `nil` for any other number of bytes.
    package init?(networkBytes bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self.init(ipv4: bytes.reduce(0) { $0 << 8 | UInt32($1) })
        case 16:
            self.init(
                ipv6High: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
                low: bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
        default: return nil
        }
    }

    /// The address family as the kernel numbers it.
    var family: UInt8 { UInt8(isIPv6 ? AF_INET6 : AF_INET) }
}

extension IPPrefix {
    /// Every address of a family.
    static func everything(isIPv6: Bool) -> IPPrefix {
        let zero = isIPv6 ? IPAddress(ipv6High: 0, low: 0) : IPAddress(ipv4: 0)
        guard let prefix = IPPrefix(address: zero, length: 0) else {
            preconditionFailure("zero is a length of every family")
        }
        return prefix
    }

    /// Whether every address of the other prefix lies inside this one.
    func contains(_ other: IPPrefix) -> Bool { other.length >= length && contains(other.address) }
}
