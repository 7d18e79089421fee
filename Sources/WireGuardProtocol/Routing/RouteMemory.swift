// SPDX-License-Identifier: MIT

/// The last answer of a look-up in the allowed IPs: most packets of a batch are neighbours of one flow.
///
/// Valid only while the table does not change, so one is made for each batch.
struct RouteMemory {
    /// The address that was looked up last; no look-up was made while `isIPv6` is `nil`.
    private var address: UInt128 = 0
    private var isIPv6: Bool?
    private var peer: UInt32?

    /// Remembers nothing.
    init() {}

    /// The peer with the longest prefix that holds the address, given as 4 or 16 bytes in network order.
    @inline(__always)
    mutating func lookup(
        _ position: UnsafeRawPointer, isIPv6: Bool, in table: borrowing AllowedIPs
    ) -> UInt32? {
        let address =
            isIPv6
            ? unsafe position.loadUnaligned(as: UInt128.self)
            : UInt128(unsafe position.loadUnaligned(as: UInt32.self))
        if self.isIPv6 == isIPv6, self.address == address { return peer }
        self.address = address
        self.isIPv6 = isIPv6
        peer = isIPv6 ? unsafe table.lookup(ipv6: position) : unsafe table.lookup(ipv4: position)
        return peer
    }
}
