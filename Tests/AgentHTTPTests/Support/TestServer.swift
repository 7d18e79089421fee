// SPDX-License-Identifier: MIT

internal import AgentHTTP

/// A server at a free port of 127.0.0.1, which stops with this object.
final class TestServer: Sendable {
    let server: HTTPServer
    let port: UInt16
    private let scheme: String
    private let address: String

    /// Starts a server.
    ///
    /// - Parameter address: An address of 127.0.0.0/8. Another one than usual has all its ports to itself, so
    ///   that nobody takes the port once the server has stopped.
    init(
        at address: String = "127.0.0.1", tls: TLSIdentity? = nil,
        options: HTTPServerOptions = .with { _ in },
        handler: @escaping @Sendable (ServerRequest) async -> ServerReply = TestServer.echo
    ) throws {
        server = HTTPServer(
            listeners: [.tcp(address: address, port: 0, tls: tls)], options: options, handler: handler)
        try server.start()
        port = server.port ?? 0
        scheme = tls == nil ? "http" : "https"
        self.address = address
    }

    /// The URL of a path at this server.
    func url(_ path: String = "/", host: String? = nil) -> String {
        "\(scheme)://\(host ?? address):\(port)\(path)"
    }

    /// Sends a request in its own bytes and returns all that comes until the server closes.
    func exchange(_ text: String) async throws -> String {
        try await blocking { [port] in try Sockets.exchange(port: port, text) }
    }

    deinit { server.stop() }

    /// Answers with what the request says.
    static let echo: @Sendable (ServerRequest) async -> ServerReply = { request in
        let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        let text =
            "\(request.method) \(request.path) [\(query)] \(request.header("X-Note") ?? "-") "
            + String(decoding: request.body, as: UTF8.self)
        return .response(
            ServerResponse(status: 200, headers: [("Content-Type", "text/plain")], body: Array(text.utf8)))
    }
}

extension HTTPServerOptions {
    /// The defaults with changes, little patience when the server stops, and else as much as no test needs.
    static func with(_ change: (inout HTTPServerOptions) -> Void) -> HTTPServerOptions {
        var options = HTTPServerOptions()
        options.stopGrace = .milliseconds(200)
        options.requestTimeout = .seconds(600)
        options.keepAliveTimeout = .seconds(600)
        options.responseTimeout = .seconds(600)
        change(&options)
        return options
    }
}

/// The status and the content of an answer in its own bytes.
func parts(_ answer: String) -> (status: String, body: String) {
    let status = String(answer.dropFirst(9).prefix(3))
    guard let end = answer.firstRange(of: "\r\n\r\n") else { return (status, "") }
    return (status, String(answer[end.upperBound...]))
}
