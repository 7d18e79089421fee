// SPDX-License-Identifier: MIT

/// Why a request has no answer.
///
/// The texts are for people; they hold names and addresses of hosts, and never a path, a header or content.
public enum HTTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The URL is malformed, or its scheme is neither `http` nor `https`, or it holds a user's name.
    case invalidURL
    /// The name of the host has no address.
    case resolve(String)
    /// No connection to the host could be made.
    case connect(String)
    /// The handshake of TLS failed, or the certificate is not trusted or is another host's.
    case tls(String)
    /// The connection or the whole exchange took too long.
    case timedOut
    /// The answer is larger than the limit of the options.
    case tooLarge
    /// The connection ended before the whole answer had come, or before any of it.
    case truncated
    /// The task that sent the request was cancelled.
    case cancelled
    /// The answer is no HTTP, or something else failed.
    case other(String)

    /// One sentence for people.
    public var description: String {
        switch self {
        case .invalidURL: "the URL is not a valid http or https URL"
        case .resolve(let reason): "the host's name cannot be resolved: \(reason)"
        case .connect(let reason): "no connection: \(reason)"
        case .tls(let reason): "TLS: \(reason)"
        case .timedOut: "no answer in time"
        case .tooLarge: "the answer is too large"
        case .truncated: "the connection ended within the answer"
        case .cancelled: "the request was cancelled"
        case .other(let reason): reason
        }
    }
}
