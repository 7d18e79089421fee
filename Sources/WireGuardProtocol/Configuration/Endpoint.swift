// SPDX-License-Identifier: MIT

/// Where a peer's datagrams go: an address or a host name, and a UDP port.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The host part of an endpoint.
    public enum Host: Hashable, Sendable {
        /// An address; `zone` is the interface of a link-local IPv6 address, by name or number.
        case address(IPAddress, zone: String?)
        /// A host name, resolved when the configuration is applied.
        case name(String)
    }

    /// The address or host name.
    public let host: Host
    /// The UDP port, 1 to 65535.
    public let port: UInt16

    /// Creates an endpoint from its parts.
    public init(host: Host, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `192.0.2.1:51820`, `[2001:db8::1]:51820`, `[fe80::1%eth0]:51820` or `vpn.example.com:51820`.
    ///
    /// - Throws: `AddressError` with the reason.
    public init(_ text: String) throws(AddressError) {
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { throw .needsBrackets(text) }
            let inner = text[text.index(after: text.startIndex)..<close]
            let rest = text[text.index(after: close)...]
            guard rest.first == ":" else { throw .missingPort(text) }
            let port = try Self.port(rest.dropFirst(), of: text)
            let parts = inner.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
            let address = try IPAddress(parts.first ?? "")
            guard address.isIPv6 else { throw .notAnAddress(String(inner)) }
            if parts.count == 2 {
                guard Self.isZone(parts[1]) else { throw .notAnAddress(String(inner)) }
                self.init(host: .address(address, zone: String(parts[1])), port: port)
            } else {
                self.init(host: .address(address, zone: nil), port: port)
            }
            return
        }
        guard let colon = text.lastIndex(of: ":") else { throw .missingPort(text) }
        let host = text[..<colon]
        guard !host.contains(":") else { throw .needsBrackets(text) }
        let port = try Self.port(text[text.index(after: colon)...], of: text)
        if let address = try? IPAddress(host) {
            self.init(host: .address(address, zone: nil), port: port)
        } else {
            guard Self.isHostName(host) else { throw .invalidHostName(String(host)) }
            self.init(host: .name(String(host)), port: port)
        }
    }

    /// The form that the initialiser reads.
    public var description: String {
        switch host {
        case .address(let address, let zone):
            address.isIPv6 ? "[\(address)\(zone.map { "%\($0)" } ?? "")]:\(port)" : "\(address):\(port)"
        case .name(let name): "\(name):\(port)"
        }
    }

    /// Reads the decimal port of an endpoint.
    private static func port(_ text: Substring, of endpoint: String) throws(AddressError) -> UInt16 {
        guard !text.isEmpty else { throw .missingPort(endpoint) }
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(text), port > 0 else {
            throw .invalidPort(String(text))
        }
        return port
    }

    /// Whether a text can be an interface name or number: 1 to 15 bytes, as Linux allows, without spaces,
    /// control characters, `/` and `%`.
    private static func isZone(_ text: Substring) -> Bool {
        (1...15).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                byte > 0x20 && byte != 0x7F && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "%")
            }
    }

    /// Whether a text can be a host name: letters, digits, hyphens, underscores and dots, and not all digits
    /// and dots, which would be a misspelt address.
    private static func isHostName(_ text: some StringProtocol) -> Bool {
        guard (1...253).contains(text.utf8.count) else { return false }
        var hasLetter = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 128...255:
                hasLetter = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): break
            case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): break
            default: return false
            }
        }
        return hasLetter
    }
}

/// An IP address, a port and, for link-local IPv6, a scope: where a datagram came from or goes to.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address.
    public let address: IPAddress
    /// The UDP port.
    public let port: UInt16
    /// The interface index of a link-local IPv6 address, otherwise zero.
    public let scopeIdentifier: UInt32

    /// Creates an address from its parts.
    public init(address: IPAddress, port: UInt16, scopeIdentifier: UInt32 = 0) {
        self.address = address
        self.port = port
        self.scopeIdentifier = scopeIdentifier
    }

    /// The form `address:port`, with brackets around IPv6 and the scope as a number.
    public var description: String {
        guard address.isIPv6 else { return "\(address):\(port)" }
        return scopeIdentifier == 0 ? "[\(address)]:\(port)" : "[\(address)%\(scopeIdentifier)]:\(port)"
    }
}
