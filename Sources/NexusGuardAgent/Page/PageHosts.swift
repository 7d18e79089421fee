// SPDX-License-Identifier: MIT

internal import AgentHTTP

/// The names under which the page is reached, and what browsers say about where a request comes from.
struct PageHosts: Equatable, Sendable {
    /// Values of the field `Host`, in lowercase; a port that the scheme implies is left out.
    private let names: Set<String>
    private let scheme: String

    /// The names of a listener.
    ///
    /// - Parameters:
    ///   - port: The port that it listens on.
    ///   - isTLS: Whether it does so under TLS.
    ///   - further: Names besides those of loopback: `name`, `name:port`, `address` or `[address]:port`.
    init(port: UInt16, isTLS: Bool, further: [String]) {
        let scheme = isTLS ? "https" : "http"
        self.scheme = scheme
        var names: Set<String> = []
        for host in ["127.0.0.1", "localhost", "[::1]"] + further {
            let hasPort = host.hasPrefix("[") ? host.contains("]:") : host.contains(":")
            names.insert(Self.normal(hasPort ? host : "\(host):\(port)", scheme: scheme))
        }
        self.names = names
    }

    /// Checks that a request is for this page: another name may be that of a page elsewhere, made to lead here.
    func checkHost(_ request: ServerRequest) throws(APIError) {
        let hosts = request.headers.filter { $0.name.lowercased() == "host" }
        guard hosts.count == 1, names.contains(Self.normal(hosts[0].value, scheme: scheme)) else {
            throw .misdirected
        }
    }

    /// Checks that no page from elsewhere made a request.
    ///
    /// What changes anything must prove it; what only reads must not prove the opposite.
    func checkOrigin(_ request: ServerRequest) throws(APIError) {
        let site = try Self.only("sec-fetch-site", in: request)
        let origin = try Self.only("origin", in: request)
        if let origin, !isOwn(origin, host: request.header("Host") ?? "") { throw .crossOrigin }
        guard request.method == "GET" || request.method == "HEAD" else {
            // Programs that are no browsers say neither of their own accord: they must, so that none is tricked.
            guard site == "same-origin" || (site == nil && origin != nil) else { throw .crossOrigin }
            return
        }
        // "none" is a user who typed the address.
        guard site == nil || site == "same-origin" || site == "none" else { throw .crossOrigin }
    }

    private func isOwn(_ origin: String, host: String) -> Bool {
        guard origin.hasPrefix("\(scheme)://") else { return false }
        let authority = String(origin.dropFirst(scheme.utf8.count + 3))
        return Self.normal(authority, scheme: scheme) == Self.normal(host, scheme: scheme)
    }

    /// The value of a field in lowercase; `nil` without one. No browser sends two.
    private static func only(_ name: String, in request: ServerRequest) throws(APIError) -> String? {
        let fields = request.headers.filter { $0.name.lowercased() == name }
        guard fields.count <= 1 else { throw .crossOrigin }
        return fields.first?.value.lowercased()
    }

    private static func normal(_ host: String, scheme: String) -> String {
        let host = host.lowercased()
        let implied = scheme == "https" ? ":443" : ":80"
        return host.hasSuffix(implied) ? String(host.dropLast(implied.utf8.count)) : host
    }
}

extension APIError {
    /// The request comes from a page elsewhere, or may.
    static let crossOrigin = APIError(
        status: 403, code: "cross-origin", message: "only the agent's own page may ask for this")
}
