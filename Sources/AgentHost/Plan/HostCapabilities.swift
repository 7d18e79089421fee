// SPDX-License-Identifier: MIT

/// What the host can do, as far as a plan depends on it.
public struct HostCapabilities: Hashable, Sendable {
    /// Whether the kernel routes IPv6 at all.
    public var routesIPv6: Bool
    /// Whether the tunnel's interface can have IPv6 addresses.
    public var interfaceTakesIPv6: Bool

    /// Creates capabilities from their parts.
    public init(routesIPv6: Bool = true, interfaceTakesIPv6: Bool = true) {
        self.routesIPv6 = routesIPv6
        self.interfaceTakesIPv6 = interfaceTakesIPv6
    }
}
