// SPDX-License-Identifier: MIT

/// The limits of one exchange, and how its connection is made.
public struct HTTPClientOptions: Sendable {
    /// How long resolving, connecting and the handshake of TLS may take together.
    public var connectTimeout: Duration
    /// How long the whole exchange may take; event streams have no such limit.
    public var totalTimeout: Duration
    /// How long an event stream may bring nothing before it counts as dead; `nil` waits for ever.
    ///
    /// Whole seconds; servers of this project send a comment each 15 s.
    public var streamIdleTimeout: Duration?
    /// How long a connection is kept that carries nothing; whole seconds.
    public var idleLimit: Duration
    /// The largest content of an answer, in bytes.
    public var responseLimit: Int
    /// A file of certificates in PEM that are trusted besides the system's; `nil` trusts the system's alone.
    public var certificateAuthorityFile: String?
    /// The mark of the connection's socket (SO_MARK), which needs CAP_NET_ADMIN; `nil` sets none.
    public var socketMark: UInt32?
    /// Addresses of hosts that are not to be resolved; they are tried in the order given.
    public var resolved: [(host: String, port: UInt16, addresses: [String])]

    /// Creates options; the defaults suit a request to a control server.
    public init(
        connectTimeout: Duration = .seconds(5), totalTimeout: Duration = .seconds(10),
        streamIdleTimeout: Duration? = nil, idleLimit: Duration = .seconds(120), responseLimit: Int = 65_536,
        certificateAuthorityFile: String? = nil, socketMark: UInt32? = nil,
        resolved: [(host: String, port: UInt16, addresses: [String])] = []
    ) {
        self.connectTimeout = connectTimeout
        self.totalTimeout = totalTimeout
        self.streamIdleTimeout = streamIdleTimeout
        self.idleLimit = idleLimit
        self.responseLimit = responseLimit
        self.certificateAuthorityFile = certificateAuthorityFile
        self.socketMark = socketMark
        self.resolved = resolved
    }
}
