// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP

/// A refusal of the local API: a status, a stable code, a sentence, and the field that is to blame, if one is.
struct APIError: Error, Equatable {
    /// The status of HTTP.
    var status: Int
    /// The stable code.
    var code: String
    /// One sentence without secrets.
    var message: String
    /// The field of the request.
    var field: String?
    /// Further header fields.
    var headers: [String: String] = [:]

    /// The request cannot be understood.
    static func badRequest(field: String? = nil, _ message: String) -> APIError {
        APIError(status: 400, code: "bad-request", message: message, field: field)
    }

    /// Nothing is at this path.
    static let notFound = APIError(status: 404, code: "not-found", message: "there is nothing at this path")

    /// The path does not have this method.
    static func methodNotAllowed(_ allowed: [String]) -> APIError {
        let list = allowed.joined(separator: ", ")
        return APIError(
            status: 405, code: "method-not-allowed", message: "this path takes \(list)",
            headers: ["Allow": list])
    }

    /// The peer may not do this.
    static let forbidden = APIError(
        status: 403, code: "not-permitted",
        message: "only root and members of the group of operators may do this")

    /// The request is for another host.
    static let misdirected = APIError(
        status: 421, code: "misdirected", message: "this is not the host that the request names")

    /// The content is not JSON.
    static let unsupportedMediaType = APIError(
        status: 415, code: "unsupported-media-type", message: "the content must be application/json")

    /// An error of the agent.
    init(_ error: AgentError) {
        self.init(status: Self.status(of: error), code: error.code, message: error.description)
        switch error {
        case .configInvalid(let field, let reason):
            self.field = field
            message = "\(field): \(reason)"
        case .rateLimited(let delay?):
            headers["Retry-After"] = String(max(1, delay.components.seconds))
        default: break
        }
    }

    private init(status: Int, code: String, message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    /// Creates a refusal.
    init(
        status: Int, code: String, message: String, field: String? = nil, headers: [String: String] = [:]
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        self.headers = headers
    }

    /// The answer.
    var response: ServerResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.name("error")
        writer.beginObject()
        writer.member("code", code)
        writer.member("message", message)
        if let field { writer.member("field", field) }
        writer.endObject()
        writer.endObject()
        var response = APIReply.json(writer.finish(), status: status)
        response.headers += headers.map { (name: $0.key, value: $0.value) }
        return response
    }

    private static func status(of error: AgentError) -> Int {
        switch error {
        case .configInvalid: 400
        case .notProvisioned, .identityMismatch: 409
        case .networkOffline, .rateLimited: 503
        case .handshakeTimedOut: 504
        case .secretStore, .storeUnusable, .tunnelInitFailed: 500
        case .provisioningFailed, .heartbeatFailed, .cryptoDecryptionFailed, .unauthorized, .serverRejected,
            .tls, .captivePortal, .clockSkew, .revoked:
            502
        }
    }
}
