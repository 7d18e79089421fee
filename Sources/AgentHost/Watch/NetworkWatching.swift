// SPDX-License-Identifier: MIT

public import NexusGuard

/// Tells what happens to the host's network.
public protocol NetworkWatching: Sendable {
    /// The events from now on.
    ///
    /// Each call gives a stream of its own. A reader that falls behind loses the oldest events.
    var events: AsyncStream<NetworkEvent> { get }

    /// Whether there is a way out: a route to one of the destinations, or, when none are set, any network.
    var isOnline: Bool { get }

    /// Whether control traffic to the address, which bypasses a full tunnel, has a route.
    func hasRoute(to address: IPAddress) -> Bool

    /// Sets what must be reachable for the host to be online; empty stands for any network.
    func setDestinations(_ destinations: [IPAddress])
}
