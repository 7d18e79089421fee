// SPDX-License-Identifier: MIT

/// What one call of `UDPTransport.receive` found.
package struct UDPReceiveResult: Hashable, Sendable {
    /// The number of datagrams that were added to the batch.
    package internal(set) var datagramCount = 0
    /// Whether the call stopped for want of room: call again before waiting for the sockets, which need not be
    /// readable for it.
    package internal(set) var hasMore = false
    /// The number of receive calls that the kernel refused, mostly ICMP errors for datagrams sent before.
    package internal(set) var errorCount = 0
    /// The number of the last error, or zero.
    package internal(set) var lastErrno: Int32 = 0
}

/// Which of the two sockets to look at.
package struct UDPFamilies: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The IPv4 socket.
    package static let ipv4 = UDPFamilies(rawValue: 1)
    /// The IPv6 socket.
    package static let ipv6 = UDPFamilies(rawValue: 2)
    /// Both sockets.
    package static let both: UDPFamilies = [.ipv4, .ipv6]
}
