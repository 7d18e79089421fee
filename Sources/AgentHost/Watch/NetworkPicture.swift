// SPDX-License-Identifier: MIT

internal import NexusGuard

/// The part of the host's network that decides which way our traffic goes.
///
/// Two equal pictures mean that nothing happened that concerns us: notifications come for much else, such as the
/// renewal of an address or our own routes.
struct NetworkPicture: Hashable, Sendable {
    /// The interfaces with a carrier, except loopback and the tunnel's own.
    var links: Set<Int32> = []
    /// Their addresses, as far as they can be used.
    var addresses: Set<AddressRecord> = []
    /// The destinations whose ways were asked for.
    var destinations: Set<IPAddress> = []
    /// The ways of marked packets to the destinations, where there are any.
    var ways: [IPAddress: RouteRecord] = [:]
    /// Whether there is a way out.
    var isOnline = false

    /// One address of each family that no host has a route of its own for (RFC 5737, RFC 3849).
    private static let strangers = [
        IPAddress(ipv4: 0xC633_6401), IPAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 1),
    ]

    /// A host without any network.
    init() {}

    /// Looks at the host.
    ///
    /// - Parameters:
    ///   - destinations: What must be reachable; empty stands for any network.
    ///   - ignored: The names of interfaces that do not count.
    /// - Throws: `HostError.refused`.
    init(destinations: [IPAddress], ignoring ignored: Set<String>) throws(HostError) {
        var route = try RouteNetlink()
        let others = try route.links().filter { !$0.isLoopback && !ignored.contains($0.name) && $0.isRunning }
        links = Set(others.map(\.index))
        let links = links
        addresses = Set(try route.addresses().filter { links.contains($0.interfaceIndex) && $0.isUsable })
        self.destinations = Set(destinations + Self.strangers)
        for destination in self.destinations {
            ways[destination] = try route.route(to: destination, mark: FirewallMark.value)
        }
        isOnline =
            destinations.isEmpty
            ? addresses.contains { $0.isGlobal } : destinations.contains { ways[$0] != nil }
    }

    /// Whether something else than the destinations is another.
    func differs(from other: NetworkPicture) -> Bool {
        links != other.links || addresses != other.addresses
            || destinations.intersection(other.destinations).contains { ways[$0] != other.ways[$0] }
    }
}
