// SPDX-License-Identifier: MIT

internal import WireGuardConfiguration
internal import WireGuardCrypto
internal import WireGuardProtocol

/// A configuration whose host names have become addresses.
struct ResolvedConfiguration: Sendable {
    /// The configuration as its owner wrote it.
    let configuration: TunnelConfiguration
    /// The addresses of the endpoints.
    let endpoints: [Endpoint: SocketAddress]
    /// What to tell of peers that are loaded without their endpoint.
    let problems: [TunnelEvent]

    /// Resolves the endpoints; waits for the name service where it must.
    ///
    /// A host name that can not be resolved now but could in `former` keeps its address. A link-local endpoint on
    /// an interface that does not exist concerns its peer alone, which then waits for the other side to start:
    /// the interface may be one that comes and goes.
    ///
    /// - Throws: `TunnelError.duplicatePeer` or `.unresolvedEndpoint`.
    init(
        _ configuration: TunnelConfiguration, former: ResolvedConfiguration? = nil
    ) throws(TunnelError) {
        var seen: Set<PublicKey> = []
        var endpoints: [Endpoint: SocketAddress] = [:]
        var problems: [TunnelEvent] = []
        for peer in configuration.peers {
            guard seen.insert(peer.publicKey).inserted else { throw .duplicatePeer(peer.publicKey) }
            guard let endpoint = peer.endpoint, endpoints[endpoint] == nil else { continue }
            do {
                endpoints[endpoint] = try EndpointResolver.resolve(endpoint)
            } catch {
                if let address = former?.endpoints[endpoint] {
                    endpoints[endpoint] = address
                } else if case .unknownInterface = error {
                    problems.append(.endpointUnusable(peer.publicKey, reason: error.description))
                } else {
                    throw .unresolvedEndpoint(endpoint.description, reason: error.description)
                }
            }
        }
        self.configuration = configuration
        self.endpoints = endpoints
        self.problems = problems
    }

    /// The change that makes any device this configuration.
    var replacement: ConfigurationChange {
        ConfigurationChange.replacement(by: configuration, endpoints: endpoints)
    }

    /// The change that makes a device this configuration, with nothing in it that is so already.
    ///
    /// A peer keeps the endpoint to which it roamed, unless its configured endpoint is another one than in
    /// `former`, or its host name has another address by now.
    ///
    /// - Parameters:
    ///   - current: The device as it is, whoever made it so.
    ///   - former: The configuration that was applied last, if one was.
    func change(from current: DeviceSnapshot, former: ResolvedConfiguration?) -> ConfigurationChange {
        // Without a key of its own a device has no sessions that could be kept.
        guard let privateKey = current.privateKey else { return replacement }
        var configured: [PublicKey: Endpoint] = [:]
        for peer in former?.configuration.peers ?? [] { configured[peer.publicKey] = peer.endpoint }
        let peers = current.peers.map { peer in
            var present = PeerConfiguration(
                publicKey: peer.publicKey, presharedKey: peer.presharedKey, allowedIPs: peer.allowedIPs,
                persistentKeepalive: peer.persistentKeepalive)
            if peer.endpoint != nil, let endpoint = configured[peer.publicKey],
                former?.endpoints[endpoint] == endpoints[endpoint]
            {
                present.endpoint = endpoint
            }
            return present
        }
        let present = TunnelConfiguration(
            privateKey: privateKey, listenPort: former?.configuration.listenPort ?? current.listenPort,
            firewallMark: current.firewallMark, peers: peers)
        return ConfigurationChange.difference(from: present, to: configuration, endpoints: endpoints)
    }
}
