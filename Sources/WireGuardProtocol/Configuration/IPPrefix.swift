// SPDX-License-Identifier: MIT

/// An IP prefix, as in a peer's allowed IPs.
public struct IPPrefix: Hashable, Sendable, CustomStringConvertible {
    /// The first address; the bits behind the prefix are zero.
    public let address: IPAddress
    /// The number of leading bits that count: 0 to 32, or 0 to 128.
    public let length: Int

    /// Creates a prefix and clears the bits behind it.
    ///
    /// - Returns: `nil` when `length` is not one of the address family.
    public init?(address: IPAddress, length: Int) {
        guard (0...address.bitCount).contains(length) else { return nil }
        self.init(masking: address, length: length)
    }

    /// Creates the prefix of a length already known to be valid.
    init(masking address: IPAddress, length: Int) {
        let highMask: UInt64 = length >= 64 ? .max : length == 0 ? 0 : ~0 << UInt64(64 - length)
        let lowMask: UInt64 = length <= 64 ? 0 : ~0 << UInt64(128 - length)
        self.address =
            address.isIPv6
            ? IPAddress(ipv6High: address.high & highMask, low: address.low & lowMask)
            : IPAddress(ipv4: UInt32(truncatingIfNeeded: (address.high & highMask) >> 32))
        self.length = length
    }

    /// Reads `address/length`; without a length the prefix is that one address.
    ///
    /// - Throws: `AddressError.notAnAddress` or `.invalidPrefixLength`.
    public init(_ text: some StringProtocol) throws(AddressError) {
        guard let slash = text.firstIndex(of: "/") else {
            let address = try IPAddress(text)
            self.init(masking: address, length: address.bitCount)
            return
        }
        let address = try IPAddress(text[..<slash])
        let digits = text[text.index(after: slash)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }), let length = Int(digits),
            length <= address.bitCount
        else { throw .invalidPrefixLength(String(digits)) }
        self.init(masking: address, length: length)
    }

    /// Whether the address lies inside the prefix.
    public func contains(_ other: IPAddress) -> Bool {
        other.isIPv6 == address.isIPv6 && IPPrefix(masking: other, length: length).address == address
    }

    /// The form `address/length`.
    public var description: String { "\(address)/\(length)" }
}
