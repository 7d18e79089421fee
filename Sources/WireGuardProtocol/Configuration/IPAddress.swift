// SPDX-License-Identifier: MIT

/// Why a text is not an address, a prefix or an endpoint.
public enum AddressError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is neither an IPv4 nor an IPv6 address.
    case notAnAddress(String)
    /// The length behind the slash is not a number that the address family allows.
    case invalidPrefixLength(String)
    /// The endpoint has no port.
    case missingPort(String)
    /// The port is not a number from 1 to 65535.
    case invalidPort(String)
    /// An IPv6 address with a port must be written in brackets.
    case needsBrackets(String)
    /// The host name is empty, too long, or has characters that no host name has.
    case invalidHostName(String)

    /// One sentence that names the refused text.
    public var description: String {
        switch self {
        case .notAnAddress(let text): "'\(text)' is not an IP address"
        case .invalidPrefixLength(let text): "'\(text)' is not a prefix length of this address family"
        case .missingPort(let text): "'\(text)' has no port"
        case .invalidPort(let text): "'\(text)' is not a port from 1 to 65535"
        case .needsBrackets(let text): "'\(text)' needs brackets around its IPv6 address: [address]:port"
        case .invalidHostName(let text): "'\(text)' is not a host name"
        }
    }
}

/// An IPv4 or IPv6 address.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The first 64 bits of an IPv6 address as a number, or an IPv4 address in the top 32 bits.
    package let high: UInt64
    /// The last 64 bits of an IPv6 address as a number, or zero.
    package let low: UInt64
    /// Whether the address is IPv6.
    public let isIPv6: Bool

    /// An IPv4 address from its 32 bits as a number: 10.0.0.1 is `0x0A00_0001`.
    public init(ipv4 number: UInt32) {
        high = UInt64(number) << 32
        low = 0
        isIPv6 = false
    }

    /// An IPv6 address from its two halves as numbers.
    public init(ipv6High high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
        isIPv6 = true
    }

    /// Reads the text form: dotted IPv4, or IPv6 as RFC 4291 section 2.2 writes it. No zone, no brackets.
    ///
    /// - Throws: `AddressError.notAnAddress`.
    public init(_ text: some StringProtocol) throws(AddressError) {
        guard let address = AddressText.address(text.utf8) else { throw .notAnAddress(String(text)) }
        self = address
    }

    /// The number of bits of an address of this family: 32 or 128.
    public var bitCount: Int { isIPv6 ? 128 : 32 }

    /// The text form; IPv6 is compressed as RFC 5952 asks.
    public var description: String { AddressText.text(self) }
}
