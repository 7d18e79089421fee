// SPDX-License-Identifier: MIT

public import WireGuardProtocol

/// An address of the tunnel's interface and the length of the network around it.
///
/// Unlike `IPPrefix` it keeps the bits behind the prefix: 10.0.0.5/24 is the host 5 of 10.0.0.0/24.
public struct InterfaceAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address.
    public let address: IPAddress
    /// The number of leading bits that name the network: 0 to 32, or 0 to 128.
    public let length: Int

    /// Creates an address with the length of its network.
    ///
    /// - Returns: `nil` when `length` is not one of the address family.
    public init?(address: IPAddress, length: Int) {
        guard (0...address.bitCount).contains(length) else { return nil }
        self.address = address
        self.length = length
    }

    /// Reads `address/length`; without a length the network is that one address.
    ///
    /// - Throws: `AddressError.notAnAddress` or `.invalidPrefixLength`.
    public init(_ text: some StringProtocol) throws(AddressError) {
        let prefix = try IPPrefix(text)
        address = try IPAddress(text.prefix { $0 != "/" })
        length = prefix.length
    }

    /// The network: the address without the bits behind the prefix.
    public var network: IPPrefix {
        guard let prefix = IPPrefix(address: address, length: length) else {
            preconditionFailure("the length was checked when the address was made")
        }
        return prefix
    }

    /// The form `address/length`.
    public var description: String { "\(address)/\(length)" }
}
