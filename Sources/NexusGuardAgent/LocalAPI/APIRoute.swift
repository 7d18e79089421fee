// SPDX-License-Identifier: MIT

/// What the local API does at one path for one method.
enum APIRoute: CaseIterable {
    case status
    case events
    case readLogs
    case clearLogs
    case tunnel
    case provision
    case deprovision
    case refresh
    case readSettings
    case writeSettings
    case forwards
    case traffic
    case readConfig
    case writeConfig
    case previewConfig
    case exportConfig
    case netcheck
    case bugreport
    case hwid
    case reset
    case pageLink
    case metrics
    case health

    /// The method.
    var method: String {
        switch self {
        case .status, .events, .readLogs, .readSettings, .forwards, .traffic, .readConfig, .netcheck, .hwid,
            .metrics, .health:
            "GET"
        case .clearLogs: "DELETE"
        case .writeSettings, .writeConfig: "PUT"
        case .tunnel, .provision, .deprovision, .refresh, .previewConfig, .exportConfig, .bugreport, .reset,
            .pageLink:
            "POST"
        }
    }

    /// The path.
    var path: String {
        switch self {
        case .status: "/api/v1/status"
        case .events: "/api/v1/events"
        case .readLogs, .clearLogs: "/api/v1/logs"
        case .tunnel: "/api/v1/tunnel"
        case .provision: "/api/v1/provision"
        case .deprovision: "/api/v1/deprovision"
        case .refresh: "/api/v1/refresh"
        case .readSettings, .writeSettings: "/api/v1/settings"
        case .forwards: "/api/v1/forwards"
        case .traffic: "/api/v1/traffic"
        case .readConfig, .writeConfig: "/api/v1/config"
        case .previewConfig: "/api/v1/config/preview"
        case .exportConfig: "/api/v1/config/export"
        case .netcheck: "/api/v1/netcheck"
        case .bugreport: "/api/v1/bugreport"
        case .hwid: "/api/v1/hwid"
        case .reset: "/api/v1/reset"
        case .pageLink: "/api/v1/ui/session"
        case .metrics: "/metrics"
        case .health: "/healthz"
        }
    }

    /// The least that a peer must be allowed.
    var role: PeerRole {
        switch self {
        case .status, .events, .traffic, .metrics, .health: .observer
        default: .controller
        }
    }

    /// Whether it changes something, which is noted in the log with who asked for it.
    var isChange: Bool {
        switch self {
        case .clearLogs, .tunnel, .provision, .deprovision, .refresh, .writeSettings, .writeConfig,
            .exportConfig, .reset, .pageLink:
            true
        default: false
        }
    }

    /// Whether it exists for programs of this host alone, and not for the page.
    var isLocalOnly: Bool {
        switch self {
        case .pageLink, .metrics, .health: true
        default: false
        }
    }

    /// The route of a request.
    ///
    /// - Throws: A refusal with status 404 or 405.
    static func find(method: String, path: String) throws(APIError) -> APIRoute {
        let routes = allCases.filter { $0.path == path }
        guard !routes.isEmpty else { throw .notFound }
        let wanted = method == "HEAD" ? "GET" : method
        guard let route = routes.first(where: { $0.method == wanted }) else {
            let allowed = routes.map(\.method)
            throw .methodNotAllowed(allowed.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] })
        }
        return route
    }
}
