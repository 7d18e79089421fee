// SPDX-License-Identifier: MIT

/// What a handler wants done with a request.
public enum ServerReply: Sendable {
    /// Sends an answer.
    case response(ServerResponse)
    /// Sends status 200 and then whatever is written, until one side closes.
    case stream(ServerStream)
    /// Closes the connection without an answer.
    case drop
    /// Announces the whole answer and closes the connection after so many bytes of its content.
    case truncated(ServerResponse, after: Int)
}
