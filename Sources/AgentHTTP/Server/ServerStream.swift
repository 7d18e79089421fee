// SPDX-License-Identifier: MIT

/// An answer that goes on until one side closes, such as one of server-sent events.
public struct ServerStream: Sendable {
    /// The header fields, such as `Content-Type: text/event-stream`.
    public var headers: [(name: String, value: String)]
    /// The most bytes that wait for a slow client; `nil` takes the server's option.
    public var bufferLimit: Int?
    /// What is sent when nothing was written for the interval of the server's options; `nil` sends nothing.
    ///
    /// The default is a comment of server-sent events. A stream without any notices a client that is gone only
    /// when it next writes.
    public var ping: [UInt8]?
    /// Makes the bytes that take the place of writes that were dropped because the client is slow.
    ///
    /// Gets how many writes are missing at that place. It runs when the bytes are about to be sent.
    public var lossMarker: (@Sendable (Int) -> [UInt8])?
    /// Is called once, when the stream has ended for whatever reason.
    public var onClosed: (@Sendable () -> Void)?
    /// Gets the writer when the stream starts; it must return soon. It is not called for `HEAD`.
    public var attach: @Sendable (StreamWriter) -> Void

    /// Creates a stream.
    public init(
        headers: [(name: String, value: String)] = [], bufferLimit: Int? = nil,
        ping: [UInt8]? = ServerStream.comment, lossMarker: (@Sendable (Int) -> [UInt8])? = nil,
        onClosed: (@Sendable () -> Void)? = nil, attach: @escaping @Sendable (StreamWriter) -> Void
    ) {
        self.headers = headers
        self.bufferLimit = bufferLimit
        self.ping = ping
        self.lossMarker = lossMarker
        self.onClosed = onClosed
        self.attach = attach
    }

    /// A comment of server-sent events, which readers skip.
    public static let comment = Array(": ping\n\n".utf8)
}
