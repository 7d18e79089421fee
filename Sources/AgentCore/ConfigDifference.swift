// SPDX-License-Identifier: MIT

/// How deep a difference between two configurations goes; a deeper one includes the shallower ones.
public enum ConfigDifference: Int, Comparable, Hashable, Sendable {
    /// Nothing that concerns this device differs.
    case none
    /// Only the forwards differ, which are for show.
    case forwards
    /// The server's endpoint, preshared key or keepalive differ: changed in place, the session goes on.
    case peer
    /// Addresses, routes, MTU or name servers differ: the host is changed, the session goes on.
    case host
    /// This device's or the server's key differs: a new handshake is needed.
    case identity

    /// Whether `left` goes less deep than `right`.
    public static func < (left: ConfigDifference, right: ConfigDifference) -> Bool {
        left.rawValue < right.rawValue
    }
}
