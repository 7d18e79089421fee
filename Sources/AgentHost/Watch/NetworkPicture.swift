// SPDX-License-Identifier: MIT

internal import NexusGuard

/// The part of the host's network that decides which way our traffic goes.
///
/// Two equal pictures mean that nothing happened that concerns us: notifications come for much else, such as the
/// renewal of an address, the interfaces of containers or our own routes.
struct NetworkPicture: Hashable, Sendable {
    /// The way of packets to one destination.
    struct Way: Hashable, Sendable {
        /// The interface that they leave by.
        var interfaceIndex: Int32
        /// The next router.
        var gateway: IPAddress?
        /// Their source.
        var source: IPAddress?
    }

    /// The destinations whose ways were asked for.
    var destinations: Set<IPAddress> = []
    /// The ways of marked packets to the destinations, where there are any.
    var ways: [IPAddress: Way] = [:]
    /// The interfaces of these ways that have a carrier.
    var links: Set<Int32> = []
    /// Their addresses, as far as they can be used.
    var addresses: Set<AddressRecord> = []
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
    ///   - wanted: What must be reachable; empty stands for any network.
    ///   - ignored: The names of interfaces that do not count.
    /// - Throws: `HostError.refused`.
    init(destinations wanted: [IPAddress], ignoring ignored: Set<String>) throws(HostError) {
        var route = try RouteNetlink()
        destinations = Set(wanted + Self.strangers)
        for destination in destinations {
            ways[destination] = try route.route(to: destination, mark: FirewallMark.value).map {
                Way(interfaceIndex: $0.interfaceIndex, gateway: $0.gateway, source: $0.preferredSource)
            }
        }
        let others = try route.links().filter { !$0.isLoopback && !ignored.contains($0.name) && $0.isRunning }
        let running = Set(others.map(\.index))
        let usable = try route.addresses().filter { $0.isUsable && running.contains($0.interfaceIndex) }
        let used = running.intersection(ways.values.map(\.interfaceIndex))
        links = used
        addresses = Set(usable.filter { used.contains($0.interfaceIndex) })
        isOnline =
            wanted.isEmpty ? usable.contains { $0.isGlobal } : wanted.contains { ways[$0] != nil }
    }

    /// Whether something else than the destinations is another.
    func differs(from other: NetworkPicture) -> Bool {
        links != other.links || addresses != other.addresses
            || destinations.intersection(other.destinations).contains { ways[$0] != other.ways[$0] }
    }
}
