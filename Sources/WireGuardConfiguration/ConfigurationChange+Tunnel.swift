// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
package import WireGuardProtocol

extension ConfigurationChange {
    /// The change that makes any device be exactly `configuration`.
    ///
    /// - Parameter endpoints: The addresses of the endpoints; a peer whose endpoint has none keeps the one it has, or
    ///   waits for the peer to start.
    package static func replacement(
        by configuration: TunnelConfiguration, endpoints: [Endpoint: SocketAddress]
    ) -> ConfigurationChange {
        var change = ConfigurationChange()
        change.privateKey = .set(configuration.privateKey)
        change.listenPort = configuration.listenPort
        change.firewallMark = configuration.firewallMark
        change.replacesPeers = true
        change.peers = configuration.peers.map { PeerChange(creating: $0, endpoints: endpoints) }
        return change
    }

    /// The change that makes a device of the configuration `old` be one of the configuration `new`.
    ///
    /// Peers that are the same in both do not occur in it, and of the others only what differs, so sessions live on.
    /// An endpoint that goes away leaves the peer where it was last heard of: there is no operation to forget it.
    ///
    /// - Parameter endpoints: The addresses of the endpoints of `new`, as above.
    package static func difference(
        from old: TunnelConfiguration, to new: TunnelConfiguration, endpoints: [Endpoint: SocketAddress]
    ) -> ConfigurationChange {
        var change = ConfigurationChange()
        if !old.privateKey.isEqual(to: new.privateKey) { change.privateKey = .set(new.privateKey) }
        if old.listenPort != new.listenPort { change.listenPort = new.listenPort }
        if old.firewallMark != new.firewallMark { change.firewallMark = new.firewallMark }

        let oldPeers = byPublicKey(old)
        let newPeers = byPublicKey(new)
        for peer in old.peers where newPeers[peer.publicKey] == nil {
            var removal = PeerChange(publicKey: peer.publicKey)
            removal.isRemoval = true
            change.peers.append(removal)
        }
        for peer in new.peers {
            guard let after = newPeers[peer.publicKey] else { continue }
            if let before = oldPeers[peer.publicKey] {
                guard let difference = PeerChange(from: before, to: after, endpoints: endpoints) else {
                    continue
                }
                change.peers.append(difference)
            } else {
                change.peers.append(PeerChange(creating: after, endpoints: endpoints))
            }
        }
        return change
    }

    /// The peers by key, each with only the allowed IPs that it has in the end.
    ///
    /// A prefix given to several peers belongs to the last. Comparing what is written instead of what is so would
    /// leave it with nobody when the last one gives it up.
    private static func byPublicKey(_ configuration: TunnelConfiguration) -> [PublicKey: PeerConfiguration] {
        var owners: [IPPrefix: PublicKey] = [:]
        for peer in configuration.peers {
            for prefix in peer.allowedIPs { owners[prefix] = peer.publicKey }
        }
        var result: [PublicKey: PeerConfiguration] = [:]
        for var peer in configuration.peers {
            peer.allowedIPs.removeAll { owners[$0] != peer.publicKey }
            result[peer.publicKey] = peer
        }
        return result
    }
}

extension PeerChange {
    /// The change that makes a peer, new or not, be exactly `peer`.
    fileprivate init(creating peer: PeerConfiguration, endpoints: [Endpoint: SocketAddress]) {
        self.init(publicKey: peer.publicKey)
        presharedKey = peer.presharedKey ?? Self.noPresharedKey
        endpoint = peer.endpoint.flatMap { endpoints[$0] }
        persistentKeepalive = peer.persistentKeepalive
        replacesAllowedIPs = true
        allowedIPs = peer.allowedIPs.map { AllowedIP($0) }
    }

    /// The change from one state of a peer to another, or `nil` if they are the same.
    fileprivate init?(
        from old: PeerConfiguration, to new: PeerConfiguration, endpoints: [Endpoint: SocketAddress]
    ) {
        self.init(publicKey: new.publicKey)
        // A peer removed by other means meanwhile is not made anew with a part of its settings.
        isUpdateOnly = true
        var isSame = true
        let oldKey = old.presharedKey ?? Self.noPresharedKey
        let newKey = new.presharedKey ?? Self.noPresharedKey
        if !oldKey.isEqual(to: newKey) {
            presharedKey = newKey
            isSame = false
        }
        if old.endpoint != new.endpoint, let address = new.endpoint.flatMap({ endpoints[$0] }) {
            endpoint = address
            isSame = false
        }
        if old.persistentKeepalive != new.persistentKeepalive {
            persistentKeepalive = new.persistentKeepalive
            isSame = false
        }
        if Set(old.allowedIPs) != Set(new.allowedIPs) {
            replacesAllowedIPs = true
            allowedIPs = new.allowedIPs.map { AllowedIP($0) }
            isSame = false
        }
        if isSame { return nil }
    }

    /// The preshared key of zeros, which takes one away.
    private static let noPresharedKey = PresharedKey(SecretKey())
}
