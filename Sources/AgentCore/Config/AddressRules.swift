// SPDX-License-Identifier: MIT

internal import NexusGuard

/// Which addresses can be what.
enum AddressRules {
    private static let multicast = [prefix(0xE000_0000, 4), IPPrefix(address: v6(0xFF00 << 48), length: 8)]
    private static let loopback = [
        prefix(0x7F00_0000, 8), IPPrefix(address: IPAddress(ipv6High: 0, low: 1), length: 128),
    ]

    /// Whether the address stands for no host: 0.0.0.0 or ::.
    static func isUnspecified(_ address: IPAddress) -> Bool {
        address == IPAddress(ipv4: 0) || address == IPAddress(ipv6High: 0, low: 0)
    }

    /// Whether the address stands for a group, or for every host of a link.
    static func isMulticast(_ address: IPAddress) -> Bool {
        multicast.contains { $0?.contains(address) == true } || address == IPAddress(ipv4: .max)
    }

    /// Whether the address stays inside the host.
    static func isLoopback(_ address: IPAddress) -> Bool {
        loopback.contains { $0?.contains(address) == true }
    }

    private static func prefix(_ number: UInt32, _ length: Int) -> IPPrefix? {
        IPPrefix(address: IPAddress(ipv4: number), length: length)
    }

    private static func v6(_ high: UInt64) -> IPAddress { IPAddress(ipv6High: high, low: 0) }
}
