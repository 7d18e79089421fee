// SPDX-License-Identifier: MIT

/// A server's answer to a request.
public struct HTTPResponse: Sendable {
    /// The status, 200 to 599. A redirect (3xx) is an answer like any other and is never followed.
    public var status: Int
    /// The header fields in the order of their arrival.
    public var headers: [(name: String, value: String)]
    /// The content, at most the limit of the options.
    public var body: [UInt8]
    /// The address of the host that answered; `nil` for a unix socket.
    public var remoteAddress: String?

    /// Creates an answer.
    public init(
        status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        remoteAddress: String? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.remoteAddress = remoteAddress
    }

    /// The value of the first field with this name, in any case; `nil` when there is none.
    public func header(_ name: String) -> String? {
        HeaderFields.first(name, in: headers)
    }
}
