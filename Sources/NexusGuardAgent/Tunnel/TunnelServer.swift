// SPDX-License-Identifier: MIT

internal import AgentHost
internal import NexusGuard

/// Where the tunnel's server is: its endpoint, and the addresses that its name has.
struct TunnelServer: Hashable, Sendable {
    /// The endpoint of the configuration.
    let configured: Endpoint
    /// Its addresses, the best one first; at least one.
    var addresses: [IPAddress]
    /// The one of them that is in use.
    var chosen: IPAddress

    /// The endpoint for the engine: an address, so that the engine asks no name server.
    var endpoint: Endpoint {
        if case .address = configured.host { return configured }
        return Endpoint(host: .address(chosen, zone: nil), port: configured.port)
    }

    /// The next of the addresses; `nil` when there is only one.
    var next: IPAddress? {
        guard addresses.count > 1, let index = addresses.firstIndex(of: chosen) else {
            return addresses.first { $0 != chosen }
        }
        return addresses[(index + 1) % addresses.count]
    }

    /// Finds the addresses of an endpoint.
    ///
    /// - Parameters:
    ///   - former: The server as it was known before: its addresses serve where no name server answers.
    ///   - usesSystem: Whether the system's resolver may be asked as well, which a tunnel that is up forbids.
    ///   - isReachable: Whether there is a route to an address.
    /// - Throws: `HostError.unresolved`.
    init(
        _ endpoint: Endpoint, former: TunnelServer?, resolver: HostResolver, memory: EndpointMemory?,
        usesSystem: Bool, isReachable: (IPAddress) -> Bool
    ) throws(HostError) {
        var known: [IPAddress]
        switch endpoint.host {
        case .address(let address, _):
            known = [address]
        case .name(let name):
            do throws(HostError) {
                known = try resolver.addresses(of: name)
                memory?.keep(known, of: name)
            } catch {
                let isSame = former.map { $0.configured.host == endpoint.host } ?? false
                known = isSame ? former?.addresses ?? [] : memory?.addresses(of: name) ?? []
                // Last what may take long, unless waiting for a name server is of no use.
                if usesSystem, known.isEmpty || !error.isTemporary {
                    let found = resolver.systemAddresses(of: name)
                    if !found.isEmpty { known = found }
                }
                guard !known.isEmpty else { throw error }
            }
        }
        // One that is in use stays in use while it can be.
        let kept = known.first { $0 == former?.chosen && isReachable($0) }
        guard let chosen = kept ?? known.first(where: isReachable) ?? known.first else {
            throw .unresolved(name: "\(endpoint)", reason: "there is none", isTemporary: false)
        }
        configured = endpoint
        addresses = known
        self.chosen = chosen
    }
}

extension HostError {
    /// Whether the same may work later.
    fileprivate var isTemporary: Bool {
        if case .unresolved(_, _, let isTemporary) = self { isTemporary } else { false }
    }
}
