// SPDX-License-Identifier: MIT

public import NexusGuard

/// A route that a tunnel needs.
public struct PlannedRoute: Hashable, Sendable, CustomStringConvertible {
    /// Where packets are sent.
    public var destination: IPPrefix
    /// The number of the table.
    public var table: UInt32
    /// Whether packets go into the tunnel; otherwise they are refused.
    public var entersTunnel: Bool

    /// The metric of routes that refuse packets.
    ///
    /// Above that of every other route, so that one into the tunnel wins, and a number that nobody else uses.
    public static let refusalMetric: UInt32 = 0x4e47_0000

    /// Creates a route.
    public init(destination: IPPrefix, table: UInt32, entersTunnel: Bool = true) {
        self.destination = destination
        self.table = table
        self.entersTunnel = entersTunnel
    }

    /// The form of `ip route`.
    public var description: String {
        "\(entersTunnel ? "" : "unreachable ")\(destination) table \(table)"
    }

    /// The route through an interface.
    func record(interfaceIndex: Int32) -> RouteRecord {
        // What the kernel gives to an IPv6 route without a metric, so that it is found again.
        let metric = destination.address.isIPv6 ? 1024 : UInt32(0)
        return RouteRecord(
            destination: destination, table: table, kind: entersTunnel ? .unicast : .unreachable,
            interfaceIndex: entersTunnel ? interfaceIndex : 0,
            metric: entersTunnel ? metric : Self.refusalMetric,
            scope: entersTunnel && !destination.address.isIPv6
                ? RouteAttribute.scopeLink : RouteAttribute.scopeUniverse)
    }
}
