// SPDX-License-Identifier: MIT

/// A request that a server received whole.
public struct ServerRequest: Sendable {
    /// The method as sent. The server leaves out the content of an answer to `HEAD` by itself.
    public let method: String
    /// The path, decoded, without the query; begins with `/`, or is `*`.
    public let path: String
    /// The pairs of the query in their order, decoded.
    public let query: [(name: String, value: String)]
    /// The header fields in their order.
    public let headers: [(name: String, value: String)]
    /// The content, at most the limit of the server's options.
    public let body: [UInt8]
    /// Who sent the request.
    public let peer: ServerPeer
    /// Whether it came over TLS.
    public let isTLS: Bool

    /// Creates a request, such as for a test of a handler.
    public init(
        method: String, path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], body: [UInt8] = [], peer: ServerPeer,
        isTLS: Bool = false
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
        self.isTLS = isTLS
    }

    /// The value of the first field with this name, in any case; `nil` when there is none.
    public func header(_ name: String) -> String? {
        HeaderFields.first(name, in: headers)
    }

    /// The value of the first pair of the query with this name; `nil` when there is none.
    public func query(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }
}
