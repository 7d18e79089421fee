// SPDX-License-Identifier: MIT

internal import AgentHTTP

/// What every request must keep to before anything is done for it.
enum RequestChecks {
    /// The names that the agent answers to on its unix socket.
    static let localHosts: Set<String> = ["localhost", "nexusguard"]

    /// Checks the host that a request names, and that no page of a browser made it.
    static func checkHost(_ request: ServerRequest) throws(APIError) {
        let hosts = request.headers.filter { $0.name.lowercased() == "host" }
        guard hosts.count == 1, localHosts.contains(hosts[0].value.lowercased()) else { throw .misdirected }
        // A browser cannot reach a unix socket by itself: whoever forwards it a page's request is refused.
        guard request.header("Origin") == nil else {
            throw APIError(status: 403, code: "not-permitted", message: "web pages may not use this socket")
        }
    }

    /// Checks the type of the content.
    ///
    /// A request that changes something must say that it is JSON: no form of a page can say so.
    static func checkContent(_ request: ServerRequest) throws(APIError) {
        guard request.method == "POST" || request.method == "PUT" else {
            guard request.body.isEmpty else { throw .badRequest("this method takes no content") }
            return
        }
        let type = (request.header("Content-Type") ?? "").prefix { $0 != ";" }
        guard type.lowercased().filter({ $0 != " " && $0 != "\t" }) == "application/json" else {
            throw .unsupportedMediaType
        }
    }
}
