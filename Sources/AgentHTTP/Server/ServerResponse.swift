// SPDX-License-Identifier: MIT

/// An answer that is complete when it is given to the server.
public struct ServerResponse: Sendable {
    /// The status, 200 to 599.
    public var status: Int
    /// The header fields. The server adds Content-Length, Date and Connection.
    public var headers: [(name: String, value: String)]
    /// The content.
    public var body: [UInt8]

    /// Creates an answer.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
