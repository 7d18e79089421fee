// SPDX-License-Identifier: MIT

internal import NexusGuard

/// How far two configurations differ, and so how much must be done to get from one to the other.
public enum ConfigDifference: Int, Comparable, CaseIterable, Hashable, Sendable {
    /// Nothing that concerns the tunnel or the forwards.
    case none
    /// The forwards, or what the server says their digest is.
    case forwards
    /// The endpoint, the preshared key or the keepalive interval: the peer is changed and its session kept.
    case peer
    /// Addresses, prefixes, name servers or MTU: the host's network is changed and the session kept.
    case host
    /// The device, its key or the server's key: a new handshake is needed.
    case identity

    /// Whether `left` asks for less than `right`.
    public static func < (left: ConfigDifference, right: ConfigDifference) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension WireGuardConfig {
    /// How this configuration differs from an older one; the largest difference counts.
    ///
    /// The order of addresses and prefixes does not count, nor does the case of a host name. The order of name
    /// servers does, since resolvers ask the first one first.
    public func difference(from old: WireGuardConfig) -> ConfigDifference {
        guard deviceID == old.deviceID, privateKey.isEqual(to: old.privateKey),
            serverPublicKey == old.serverPublicKey
        else { return .identity }
        guard Set(addresses) == Set(old.addresses), Set(allowedIPs) == Set(old.allowedIPs),
            nameServers == old.nameServers, serverAddress == old.serverAddress, mtu == old.mtu
        else { return .host }
        guard canonicalEndpoint == old.canonicalEndpoint, keepalive == old.keepalive,
            Self.areEqual(presharedKey, old.presharedKey)
        else { return .peer }
        // Without the list a change of the digest still says that there is another one to fetch.
        guard forwardsHash == old.forwardsHash, forwards.map({ Set($0) }) == old.forwards.map({ Set($0) })
        else { return .forwards }
        return .none
    }

    /// The endpoint as text, a host name in lowercase and without a dot at its end.
    var canonicalEndpoint: String {
        guard case .name(let name) = endpoint.host else { return endpoint.description }
        let lowercase = name.lowercased()
        return "\(lowercase.hasSuffix(".") ? String(lowercase.dropLast()) : lowercase):\(endpoint.port)"
    }

    private static func areEqual(_ left: PresharedKey?, _ right: PresharedKey?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.isEqual(to: right)
        default: false
        }
    }
}
