// SPDX-License-Identifier: MIT

/// The limits of a server.
public struct HTTPServerOptions: Sendable {
    /// The memory for the request line and the header fields of one connection, in bytes; 431 beyond.
    public var headerLimit: Int
    /// The largest content of a request, in bytes; 413 beyond.
    public var bodyLimit: Int
    /// The limit of a request with these header fields, in place of `bodyLimit`; `nil` makes no difference.
    ///
    /// Called on the thread of a listener, so it must return at once.
    public var bodyLimitOf: (@Sendable (_ headers: [(name: String, value: String)]) -> Int)?
    /// The most connections of one listener.
    public var connectionLimit: Int
    /// The most connections of one address; unix sockets do not count. 0 sets no limit.
    public var connectionsPerAddress: Int
    /// How long the first request of a connection may take to arrive whole, with the handshake of TLS.
    public var requestTimeout: Duration
    /// How long after an answer the next request of the connection may take to arrive whole.
    public var keepAliveTimeout: Duration
    /// How long a client may take to read an answer, or to read anything at all of a stream.
    public var responseTimeout: Duration
    /// The interval of comments in silent streams, without which a client that is gone goes unnoticed.
    public var streamPing: Duration
    /// The most bytes that wait for a slow client of a stream.
    public var streamBufferLimit: Int
    /// How long requests under way may go on after `stop`.
    public var stopGrace: Duration
    /// Header fields of every answer that has none of the same name, refusals of the server itself included.
    public var headers: [(name: String, value: String)]

    /// Creates options with the defaults.
    public init() {
        headerLimit = 16_384
        bodyLimit = 65_536
        bodyLimitOf = nil
        connectionLimit = 256
        connectionsPerAddress = 0
        requestTimeout = .seconds(20)
        keepAliveTimeout = .seconds(75)
        responseTimeout = .seconds(30)
        streamPing = .seconds(15)
        streamBufferLimit = 262_144
        stopGrace = .seconds(2)
        headers = []
    }
}
