// SPDX-License-Identifier: MIT

/// The allowed IPs of all peers (section 2): which peer a packet goes to, and which it may come from.
///
/// Each prefix belongs to one peer. IPv4 and IPv6 are separate. A peer is named by its number in the
/// device's table of peers. Lookups allocate nothing; a prefix takes at most 64 bytes for IPv4 and 96 for
/// IPv6, before spare capacity.
package struct AllowedIPs: ~Copyable {
    private var ipv4 = PrefixTrie<UInt32>()
    private var ipv6 = PrefixTrie<UInt128>()

    /// A table without prefixes.
    package init() {}

    /// The number of prefixes.
    package var count: Int { ipv4.count + ipv6.count }

    /// The number of nodes that hold the prefixes: fewer than twice as many.
    package var nodeCount: Int { ipv4.nodeCount + ipv6.nodeCount }

    /// Gives the prefix to the peer; a prefix that is there already moves.
    package mutating func insert(_ prefix: IPPrefix, peer: UInt32) {
        precondition(peer != PeerPositions.none, "a peer number is a position in a table")
        if prefix.address.isIPv6 {
            ipv6.insert(prefix.address.ipv6Number, length: prefix.length, peer: peer)
        } else {
            ipv4.insert(prefix.address.ipv4Number, length: prefix.length, peer: peer)
        }
    }

    /// Takes exactly this prefix, if it belongs to this peer.
    ///
    /// - Returns: Whether it did.
    @discardableResult
    package mutating func remove(_ prefix: IPPrefix, peer: UInt32) -> Bool {
        guard peer != PeerPositions.none else { return false }
        return prefix.address.isIPv6
            ? ipv6.remove(prefix.address.ipv6Number, length: prefix.length, peer: peer)
            : ipv4.remove(prefix.address.ipv4Number, length: prefix.length, peer: peer)
    }

    /// Takes all prefixes of a peer, in time proportional to their number.
    package mutating func removeAll(peer: UInt32) {
        ipv4.removeAll(peer: peer)
        ipv6.removeAll(peer: peer)
    }

    /// The peer with the longest prefix that holds an IPv4 address, given as 4 bytes in network order.
    package func lookup(ipv4 address: UnsafeRawPointer) -> UInt32? {
        Self.peer(ipv4.lookup(UInt32(bigEndian: unsafe address.loadUnaligned(as: UInt32.self))))
    }

    /// The peer with the longest prefix that holds an IPv6 address, given as 16 bytes in network order.
    package func lookup(ipv6 address: UnsafeRawPointer) -> UInt32? {
        Self.peer(ipv6.lookup(UInt128(bigEndian: unsafe address.loadUnaligned(as: UInt128.self))))
    }

    /// The peer with the longest prefix that holds the address.
    package func lookup(_ address: IPAddress) -> UInt32? {
        Self.peer(address.isIPv6 ? ipv6.lookup(address.ipv6Number) : ipv4.lookup(address.ipv4Number))
    }

    /// The peer's prefixes: IPv4 before IPv6, ascending by address and then by length.
    package func prefixes(of peer: UInt32) -> [IPPrefix] {
        var result: [IPPrefix] = []
        ipv4.forEachPrefix(of: peer) { key, length in
            result.append(IPPrefix(masking: IPAddress(ipv4: key), length: length))
        }
        ipv6.forEachPrefix(of: peer) { key, length in
            let address = IPAddress(
                ipv6High: UInt64(truncatingIfNeeded: key >> 64), low: UInt64(truncatingIfNeeded: key))
            result.append(IPPrefix(masking: address, length: length))
        }
        result.sort(by: Self.precedes)
        return result
    }

    /// The order of `prefixes(of:)`.
    private static func precedes(_ left: IPPrefix, _ right: IPPrefix) -> Bool {
        if left.address.isIPv6 != right.address.isIPv6 { return right.address.isIPv6 }
        if left.address.high != right.address.high { return left.address.high < right.address.high }
        if left.address.low != right.address.low { return left.address.low < right.address.low }
        return left.length < right.length
    }

    /// The answer of a trie as an optional.
    @inline(__always)
    private static func peer(_ number: UInt32) -> UInt32? {
        number == PeerPositions.none ? nil : number
    }
}

extension IPAddress {
    /// The 32 bits of an IPv4 address as a number.
    fileprivate var ipv4Number: UInt32 { UInt32(truncatingIfNeeded: high >> 32) }
    /// The 128 bits of an IPv6 address as a number.
    fileprivate var ipv6Number: UInt128 { UInt128(high) << 64 | UInt128(low) }
}
