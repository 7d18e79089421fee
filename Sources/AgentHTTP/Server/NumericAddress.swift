// SPDX-License-Identifier: MIT

internal import CCurl
internal import CLinux
internal import Glibc

/// The address and the port of a socket of the internet families.
struct NumericAddress {
    /// Such as `192.0.2.1` or `2001:db8::1`; an IPv4 address within IPv6 is shown as the former.
    let text: String
    let port: UInt16

    /// Reads an address of the system; `nil` when it is of another family.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let inner = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
            guard let text = Self.text(AF_INET, inner.sin_addr) else { return nil }
            self.text = text
            port = UInt16(bigEndian: inner.sin_port)
        case AF_INET6:
            let inner = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
            guard let text = Self.text(AF_INET6, inner.sin6_addr) else { return nil }
            let isMapped = text.hasPrefix("::ffff:") && text.contains(".")
            self.text = isMapped ? String(text.dropFirst(7)) : text
            port = UInt16(bigEndian: inner.sin6_port)
        default: return nil
        }
    }

    private static func text<Address>(_ family: Int32, _ address: Address) -> String? {
        withUnsafeBytes(of: address) { bytes in
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { room in
                guard inet_ntop(family, bytes.baseAddress, room.baseAddress, 64) != nil,
                    let start = room.baseAddress
                else { return nil }
                return String(cString: start)
            }
        }
    }
}
