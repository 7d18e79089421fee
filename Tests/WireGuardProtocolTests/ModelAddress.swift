// SPDX-License-Identifier: MIT

import Glibc
import WireGuardProtocol

/// The bytes of an address in network order, and the text forms of the C library.
struct ModelAddress: Equatable {
    /// 4 or 16 bytes.
    var bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The bytes of an address.
    init(_ address: IPAddress) {
        var number = UInt128(address.high) << 64 | UInt128(address.low)
        bytes = (0..<16).map { _ in
            defer { number <<= 8 }
            return UInt8(number >> 120)
        }
        if !address.isIPv6 { bytes.removeLast(12) }
    }

    /// What `inet_pton` reads, as IPv6 if there is a colon; `nil` if it refuses.
    init?(cText text: String) {
        let isIPv6 = text.utf8.contains(UInt8(ascii: ":"))
        var result = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        guard inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, &result) == 1 else { return nil }
        bytes = result
    }

    /// What `inet_ntop` writes.
    var cText: String {
        var buffer = [CChar](repeating: 0, count: 64)
        let family = bytes.count == 16 ? AF_INET6 : AF_INET
        guard inet_ntop(family, bytes, &buffer, socklen_t(buffer.count)) != nil else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The address with these bytes.
    var address: IPAddress {
        let number = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        return bytes.count == 16
            ? IPAddress(ipv6High: UInt64(number >> 64), low: UInt64(truncatingIfNeeded: number))
            : IPAddress(ipv4: UInt32(number))
    }
}
