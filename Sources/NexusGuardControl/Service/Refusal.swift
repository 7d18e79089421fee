// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP

/// A request that is not granted: the status, and a JSON object that says why.
struct Refusal: Error, Hashable {
    /// The status, 400 to 599.
    let status: Int
    /// A stable word for programs.
    let code: String
    /// A sentence for people, without secrets and without the device.
    let message: String
    /// How long to wait before the next request, if that is known.
    var retryAfter: Duration?

    /// The request makes no sense.
    static func malformed(_ error: AgentError) -> Refusal {
        Refusal(status: 400, code: "malformed", message: error.description)
    }

    /// The request makes no sense.
    static func malformed(_ message: String) -> Refusal {
        Refusal(status: 400, code: "malformed", message: message)
    }

    /// The request does not prove who sends it.
    static func unauthorized(_ code: String, _ message: String) -> Refusal {
        Refusal(status: 401, code: code, message: message)
    }

    /// There is no such device.
    static let unknownDevice = Refusal(
        status: 404, code: "unknown-device", message: "this server has no such device")

    /// The store does not work; the log says why.
    static let storeFailed = Refusal(
        status: 503, code: "store-failed", message: "the server's store does not work now",
        retryAfter: .seconds(30))

    /// The answer.
    var response: ServerResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("error")
        writer.beginObject()
        writer.member("code", code)
        writer.member("message", message)
        writer.endObject()
        writer.endObject()
        var response = ServerResponse.json(writer.finish(), status: status)
        if let retryAfter {
            // Rounded up: a client that comes back on time shall not come too early.
            let seconds = max(1, (retryAfter + .nanoseconds(999_999_999)).components.seconds)
            response.headers.append((name: "Retry-After", value: String(seconds)))
        }
        if status == 401 {
            response.headers.append((name: "WWW-Authenticate", value: "NexusGuard-HMAC v=1"))
        }
        return response
    }
}

extension ServerResponse {
    /// An answer that is a JSON document and that nobody keeps.
    static func json(_ body: [UInt8], status: Int = 200) -> ServerResponse {
        ServerResponse(
            status: status,
            headers: [
                (name: "Content-Type", value: "application/json"), (name: "Cache-Control", value: "no-store"),
            ], body: body)
    }
}
