// SPDX-License-Identifier: MIT

internal import WireGuardProtocol

/// The address forms of the cross-platform interface, read in place.
enum AddressReading {
    /// Reads `address/length`; the length is required, decimal, and has no leading zero.
    static func prefix(_ text: RawSpan) -> IPPrefix? {
        guard let slash = text.lastIndex(of: UInt8(ascii: "/")),
            let address = IPAddress(bytes: text.extracting(0..<slash)),
            let length = prefixLength(text.extracting(slash + 1..<text.byteCount), of: address)
        else { return nil }
        return IPPrefix(address: address, length: length)
    }

    /// Reads the length of a prefix of the family of `address`.
    static func prefixLength(_ text: RawSpan, of address: IPAddress) -> Int? {
        guard let length = text.decimal(upTo: UInt64(address.bitCount)),
            text.byteCount == 1 || text.byte(0) != UInt8(ascii: "0")
        else { return nil }
        return Int(length)
    }

    /// Reads `192.0.2.1:51820`, `[2001:db8::1]:51820` or `[fe80::1%eth0]:51820`; host names are refused.
    ///
    /// - Parameter resolvingZone: Gives the index of an interface of this name. A zone that it does not know may
    ///   still be the index itself in decimal.
    static func socketAddress(_ text: RawSpan, resolvingZone: (String) -> UInt32?) -> SocketAddress? {
        guard let colon = text.lastIndex(of: UInt8(ascii: ":")), colon > 0,
            let port = text.extracting(colon + 1..<text.byteCount).decimal(upTo: 65535)
        else { return nil }
        guard text.byte(0) == UInt8(ascii: "[") else {
            guard let address = IPAddress(bytes: text.extracting(0..<colon)), !address.isIPv6 else {
                return nil
            }
            return SocketAddress(address: address, port: UInt16(port))
        }
        guard colon >= 2, text.byte(colon - 1) == UInt8(ascii: "]") else { return nil }
        let inner = text.extracting(1..<colon - 1)
        let percent = inner.firstIndex(of: UInt8(ascii: "%"))
        guard let address = IPAddress(bytes: inner.extracting(0..<(percent ?? inner.byteCount))),
            address.isIPv6
        else { return nil }
        guard let percent else { return SocketAddress(address: address, port: UInt16(port)) }
        let zone = inner.extracting(percent + 1..<inner.byteCount)
        guard zone.byteCount > 0,
            let scope = resolvingZone(zone.string)
                ?? zone.decimal(upTo: UInt64(UInt32.max)).map({ UInt32(truncatingIfNeeded: $0) }),
            scope > 0
        else { return nil }
        return SocketAddress(address: address, port: UInt16(port), scopeIdentifier: scope)
    }
}
