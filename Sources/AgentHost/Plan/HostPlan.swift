// SPDX-License-Identifier: MIT

public import AgentCore
public import NexusGuard

/// What the host must look like for a tunnel: computed from the configuration alone, nothing is asked or changed.
///
/// Routes to the allowed IPs go to the main table, as `wg-quick` does it. A family that goes through the tunnel as
/// a whole gets a table of its own and two rules: routes of the main table count first, except default routes; all
/// packets without our mark then go to our table. Prefixes that hold the server's own address are routed the same
/// way, because in the main table they would lead the tunnel's datagrams into the tunnel. When one family goes
/// through the tunnel as a whole and the other does not, the other one is refused as far as it has no routes of
/// its own in the tunnel, so that nothing leaves beside the tunnel.
public struct HostPlan: Hashable, Sendable {
    /// The table of routes for packets without our mark.
    public static let table: UInt32 = 51821
    /// The rule that lets the main table count first, without its default routes.
    public static let mainTablePriority: UInt32 = 5400
    /// The rule that sends packets without our mark to our table.
    public static let ownTablePriority: UInt32 = 5410
    /// The smallest MTU that IPv6 works with (RFC 8200, section 5).
    public static let smallestMTUForIPv6 = 1280

    /// The name of the tunnel's interface.
    public var interfaceName: String
    /// The size of the largest packet in the tunnel, in bytes.
    public var mtu: Int
    /// The addresses of the interface.
    public var addresses: [InterfaceAddress]
    /// The routes, the longest prefixes first.
    public var routes: [PlannedRoute]
    /// Whether the rules for IPv4 are needed.
    public var rulesIPv4: Bool
    /// Whether the rules for IPv6 are needed.
    public var rulesIPv6: Bool
    /// The addresses and prefixes of the configuration that the host has no use for.
    public var omitted: [String]

    /// Computes the plan.
    ///
    /// - Parameters:
    ///   - config: The configuration.
    ///   - interfaceName: The name of the tunnel's interface.
    ///   - mtu: The size of the largest packet, when the configuration names none.
    ///   - serverAddresses: The addresses that the tunnel's datagrams are sent to.
    ///   - capabilities: What the host can do.
    public init(
        config: WireGuardConfig, interfaceName: String, mtu: Int = TunnelOptions.defaultMTU,
        serverAddresses: [IPAddress] = [], capabilities: HostCapabilities = HostCapabilities()
    ) {
        self.interfaceName = interfaceName
        self.mtu = config.mtu ?? mtu
        var omitted: [String] = []
        // The kernel takes IPv6 away from interfaces with a smaller MTU.
        let takesIPv6 = capabilities.interfaceTakesIPv6 && self.mtu >= Self.smallestMTUForIPv6
        addresses = config.addresses.unique.filter { address in
            if !address.address.isIPv6 || takesIPv6 { return true }
            omitted.append(address.description)
            return false
        }
        let prefixes = config.allowedIPs.unique.filter { prefix in
            if !prefix.address.isIPv6 || takesIPv6 { return true }
            omitted.append(prefix.description)
            return false
        }
        self.omitted = omitted

        // What the configuration wants counts here, even where the host can not have it in the tunnel.
        let isFull = [false, true].map { config.allowedIPs.holdEverything(isIPv6: $0) }
        let wide = prefixes.filter { prefix in
            isFull[prefix.address.isIPv6 ? 1 : 0] && prefix.length <= 1
                || serverAddresses.contains { prefix.contains($0) }
        }
        var routes: [PlannedRoute] = []
        for prefix in prefixes where !Self.isConnected(prefix, addresses) {
            let table = wide.contains(prefix) ? Self.table : RouteAttribute.tableMain
            routes.append(PlannedRoute(destination: prefix, table: table))
        }
        var hasRules = [false, true].map { isIPv6 in wide.contains { $0.address.isIPv6 == isIPv6 } }
        if isFull.contains(true) {
            for isIPv6 in [false, true] {
                guard !isIPv6 || capabilities.routesIPv6 else { continue }
                hasRules[isIPv6 ? 1 : 0] = true
                if !prefixes.holdEverything(isIPv6: isIPv6) {
                    let destination = IPPrefix.everything(isIPv6: isIPv6)
                    routes.append(
                        PlannedRoute(destination: destination, table: Self.table, entersTunnel: false))
                }
            }
            if let route = Self.routeToServer(config, addresses, serverAddresses) { routes.append(route) }
        }
        self.routes = routes.unique.sorted { $0.destination.length > $1.destination.length }
        rulesIPv4 = hasRules[0]
        rulesIPv6 = hasRules[1]
    }

    /// Whether a prefix is reached by the route that comes with an address of the interface.
    private static func isConnected(_ prefix: IPPrefix, _ addresses: [InterfaceAddress]) -> Bool {
        addresses.contains { address in
            // The kernel makes no such route for a single IPv4 address.
            address.length > 0 && (address.address.isIPv6 || address.length < 32)
                && address.network.contains(prefix)
        }
    }

    /// The route by which marked packets, too, reach the server's address inside the tunnel.
    ///
    /// Control traffic bypasses a full tunnel, but a control server may be there at the tunnel's other end only.
    private static func routeToServer(
        _ config: WireGuardConfig, _ addresses: [InterfaceAddress], _ serverAddresses: [IPAddress]
    ) -> PlannedRoute? {
        guard let address = config.serverAddress, !serverAddresses.contains(address),
            let prefix = IPPrefix(address: address, length: address.bitCount),
            !isConnected(prefix, addresses),
            config.allowedIPs.contains(where: { $0.contains(address) }),
            addresses.contains(where: { $0.address.isIPv6 == address.isIPv6 }),
            !addresses.contains(where: { $0.address == address })
        else { return nil }
        return PlannedRoute(destination: prefix, table: RouteAttribute.tableMain)
    }

    /// The rules of the plan, in the order in which they are added.
    var rules: [RuleRecord] { Self.allRules.filter { $0.isIPv6 ? rulesIPv6 : rulesIPv4 } }

    /// The rules of both families.
    static var allRules: [RuleRecord] {
        [false, true].flatMap { isIPv6 in
            var first = RuleRecord(
                isIPv6: isIPv6, priority: mainTablePriority, table: RouteAttribute.tableMain)
            first.suppressedPrefixLength = 0
            var second = RuleRecord(isIPv6: isIPv6, priority: ownTablePriority, table: table)
            second.mark = FirewallMark.value
            second.mask = FirewallMark.mask
            second.isInverted = true
            return [first, second]
        }
    }

    /// The marks that the plan needs beside its rules.
    var packetMarks: PacketMarks? {
        guard rulesIPv4 || rulesIPv6 else { return nil }
        let covered = addresses.map(\.address).filter { $0.isIPv6 ? rulesIPv6 : rulesIPv4 }
        return PacketMarks(interfaceName: interfaceName, addresses: covered.unique)
    }
}

extension Sequence<IPPrefix> {
    /// Whether the prefixes together hold every address of a family: as one, or as two halves.
    func holdEverything(isIPv6: Bool) -> Bool {
        let own = filter { $0.address.isIPv6 == isIPv6 }
        return own.contains { $0.length == 0 } || Set(own.filter { $0.length == 1 }).count == 2
    }
}

extension Sequence where Element: Hashable {
    /// The elements in order, each once.
    var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
