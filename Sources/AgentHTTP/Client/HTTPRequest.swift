// SPDX-License-Identifier: MIT

/// A request of a client.
public struct HTTPRequest: Sendable {
    /// The method, such as `GET`; a token of RFC 9110.
    public var method: String
    /// An absolute URL with the scheme `http` or `https`, and without a user's name.
    public var url: String
    /// The header fields, in order. Content-Length is added by the client.
    public var headers: [(name: String, value: String)]
    /// The content; `nil` sends none.
    public var body: [UInt8]?
    /// The path of a unix socket to connect to in place of the URL's host.
    public var unixSocket: String?

    /// Creates a request.
    public init(
        method: String = "GET", url: String, headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil, unixSocket: String? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.unixSocket = unixSocket
    }
}
