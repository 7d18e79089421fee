// SPDX-License-Identifier: MIT

internal import AgentCore
package import NexusGuard

/// What the server tells its devices, and what it asks of them.
package struct ControlSettings: Sendable {
    /// Where devices' addresses come from: at most one pool of each family, at least one.
    package var pools: [AddressPool]
    /// The WireGuard key of the server peer.
    package var serverPublicKey: PublicKey
    /// Where devices reach the server peer.
    package var endpoint: Endpoint
    /// The name servers of devices, at most four.
    package var nameServers: [IPAddress] = []
    /// What devices send through the tunnel.
    package var allowedIPs: [IPPrefix]
    /// The MTU of devices; `nil` leaves it to them.
    package var mtu: Int?
    /// The keepalive interval of devices in seconds.
    package var keepalive = WireGuardConfig.defaultKeepalive
    /// The interval of heartbeats; `nil` leaves it to the devices.
    package var heartbeatInterval: Duration?
    /// A page that devices show as the administrator's.
    package var adminURL: String?
    /// Whether new keys come with a preshared key.
    package var usesPresharedKeys = true
    /// Whether heartbeats carry the list of forwards, besides their hash.
    package var sendsForwards = false
    /// Whether requests of devices must prove who sends them.
    package var requiresAuthentication = true
    /// Whether heartbeats must ask for an encrypted answer.
    package var requiresEnvelope = true
    /// How many requests for an identity an address may send in a minute.
    package var provisionLimit = 5
    /// Whether a device's word that its tunnel is up counts as a sign that it uses its newest keys; for a server
    /// without a tunnel of its own, which cannot see it.
    package var believesReports = true

    /// Creates settings.
    ///
    /// - Parameter allowedIPs: What devices send through the tunnel; `nil` stands for the pools.
    package init(
        pools: [AddressPool], serverPublicKey: PublicKey, endpoint: Endpoint, allowedIPs: [IPPrefix]? = nil
    ) {
        self.pools = pools
        self.serverPublicKey = serverPublicKey
        self.endpoint = endpoint
        self.allowedIPs = allowedIPs ?? pools.map(\.network)
    }
}
