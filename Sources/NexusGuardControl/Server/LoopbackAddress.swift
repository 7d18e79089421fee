// SPDX-License-Identifier: MIT

internal import NexusGuard

/// The addresses that never leave the host.
enum LoopbackAddress {
    /// Whether an address is of 127.0.0.0/8, or ::1.
    static func contains(_ address: IPAddress) -> Bool {
        address == IPAddress(ipv6High: 0, low: 1)
            || IPPrefix(address: IPAddress(ipv4: 0x7F00_0000), length: 8)?.contains(address) == true
    }
}
