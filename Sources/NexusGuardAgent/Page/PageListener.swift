// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import AgentStore

/// The page's own listener while it runs.
struct PageListener: Sendable {
    /// The server.
    let server: HTTPServer
    /// Where it listens, with the port.
    let place: PageAddress
    /// Whether it does so under TLS.
    let isTLS: Bool
    /// The names under which browsers reach it.
    var hosts: PageHosts

    /// Listens.
    ///
    /// - Parameters:
    ///   - address: The address to bind.
    ///   - ports: The ports that are tried, one after the other; 0 takes a free one.
    ///   - access: The certificate and the further names.
    ///   - sessions: Who may send more than a login.
    ///   - handler: Answers requests.
    static func start(
        on address: PageAddress, ports: [UInt16], access: PageAccess, sessions: PageSessionList,
        handler: @escaping @Sendable (ServerRequest) async -> ServerReply
    ) throws(HTTPServerError) -> PageListener {
        var options = HTTPServerOptions()
        options.bodyLimitOf = { sessions.includeOne(in: $0) ? LocalAPI.largestContent : Self.longestLogin }
        options.headers = PageHeaders.all
        // Programs of this host all come from one address.
        options.connectionsPerAddress = address.isLoopback ? 0 : 64
        var problem = HTTPServerError.failed("no port")
        for port in ports {
            let server = HTTPServer(
                listeners: [.tcp(address: "\(address.address)", port: port, tls: access.identity)],
                options: options, handler: handler)
            do {
                try server.start()
            } catch {
                problem = error
                continue
            }
            let place = PageAddress(address: address.address, port: server.port ?? port)
            return PageListener(
                server: server, place: place, isTLS: access.identity != nil,
                hosts: Self.hosts(of: place, access))
        }
        throw problem
    }

    /// What those may send who are not let in yet: enough for a link or a password.
    static let longestLogin = 8192

    /// The names under which a listener is reached.
    static func hosts(of place: PageAddress, _ access: PageAccess) -> PageHosts {
        var further = access.settings.hosts ?? []
        if !place.isLoopback, !place.isEveryAddress { further.append(place.host) }
        return PageHosts(port: place.port ?? 0, isTLS: access.identity != nil, further: further)
    }

    /// The address that a browser is given, without a slash at its end.
    func origin(_ access: PageAccess) -> String {
        let scheme = isTLS ? "https" : "http"
        if !place.isLoopback, let name = access.settings.hosts?.first {
            let hasPort = name.hasPrefix("[") ? name.contains("]:") : name.contains(":")
            return hasPort ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(place.port ?? 0)"
        }
        return "\(scheme)://\(place)"
    }
}
