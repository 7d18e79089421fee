// SPDX-License-Identifier: MIT

internal import AgentHTTP

/// Answers of the local API.
enum APIReply {
    /// The header fields of every answer: nobody keeps it, and nothing guesses its type.
    static let commonHeaders: [(name: String, value: String)] = [
        ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
    ]

    /// A document of JSON, with a line end so that it can be read in a terminal.
    static func json(_ document: [UInt8], status: Int = 200) -> ServerResponse {
        ServerResponse(
            status: status, headers: [("Content-Type", "application/json")] + commonHeaders,
            body: document + [UInt8(ascii: "\n")])
    }

    /// Plain text.
    static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> ServerResponse {
        ServerResponse(status: 200, headers: [("Content-Type", type)] + commonHeaders, body: Array(text.utf8))
    }

    /// Nothing but success.
    static var empty: ServerResponse { ServerResponse(status: 204, headers: commonHeaders) }
}
