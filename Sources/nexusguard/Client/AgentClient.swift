// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import NexusGuardAgent

/// Speaks to the daemon over its socket.
final class AgentClient: Sendable {
    /// How long the daemon may take to answer, unless `NEXUSGUARD_TIMEOUT` says otherwise.
    static let defaultPatience = Duration.seconds(10)

    /// The path of the socket.
    let socket: String
    /// How long the daemon may take to answer what it can answer by itself.
    let patience: Duration
    private let http = HTTPClient()

    /// The most bytes of an answer: a whole log or a report.
    private static let largestAnswer = 16 << 20

    /// Creates a client; it connects with the first request.
    init(socket: String, patience: Duration = AgentClient.defaultPatience) {
        self.socket = socket
        self.patience = patience
    }

    /// Asks for a document.
    ///
    /// - Parameter work: How long the daemon may work on it, besides answering.
    func get(_ path: String, work: Duration = .zero) async throws(ClientError) -> [UInt8] {
        try await send(
            HTTPRequest(method: "GET", url: url(path), unixSocket: socket), within: patience + work)
    }

    /// Asks for a change.
    ///
    /// - Parameters:
    ///   - body: A document of JSON; the caller erases it afterwards if it holds a secret.
    ///   - work: How long the daemon may work on it, such as while it waits for the control server.
    func send(
        _ method: String, _ path: String, body: [UInt8]? = nil, work: Duration = .seconds(50)
    ) async throws(ClientError) -> [UInt8] {
        let hasContent = method != "DELETE"
        let request = HTTPRequest(
            method: method, url: url(path),
            headers: hasContent ? [("Content-Type", "application/json")] : [],
            body: hasContent ? body ?? Array("{}".utf8) : nil, unixSocket: socket)
        return try await send(request, within: patience + work)
    }

    /// The state.
    func snapshot() async throws(ClientError) -> AgentSnapshot {
        try Self.snapshot(try await get("/api/v1/status"))
    }

    /// Reads a state.
    static func snapshot(_ document: [UInt8]) throws(ClientError) -> AgentSnapshot {
        do {
            return try AgentSnapshot(parsing: document)
        } catch {
            throw .malformed(error.description)
        }
    }

    /// Follows the daemon's events until the daemon closes the connection.
    ///
    /// - Parameters:
    ///   - position: The identifier of the last event of the log that was seen; `nil` begins with new ones.
    ///   - onEvent: Gets each event, on a thread of the client.
    /// - Throws: Why the connection could not be made or broke.
    func follow(
        after position: String?, onEvent: @escaping @Sendable (ServerSentEvent) -> Void
    ) async throws(ClientError) {
        let parser = ServerSentEventParser(onEvent: onEvent)
        var headers: [(name: String, value: String)] = [("Accept", "text/event-stream")]
        if let position { headers.append(("Last-Event-ID", position)) }
        let request = HTTPRequest(
            method: "GET", url: url("/api/v1/events"), headers: headers, unixSocket: socket)
        // The daemon says something each 15 s; after three times that the connection is dead.
        let options = HTTPClientOptions(streamIdleTimeout: .seconds(45))
        let response: HTTPResponse
        do {
            response = try await http.stream(request, options: options) { parser.feed($0) }
        } catch {
            throw unreachable(error)
        }
        _ = try checked(response)
    }

    private func url(_ path: String) -> String { "http://localhost\(path)" }

    private func send(_ request: HTTPRequest, within limit: Duration) async throws(ClientError) -> [UInt8] {
        let options = HTTPClientOptions(totalTimeout: limit, responseLimit: Self.largestAnswer)
        let response: HTTPResponse
        do {
            response = try await http.send(request, options: options)
        } catch {
            throw unreachable(error)
        }
        return try checked(response)
    }

    private func unreachable(_ error: HTTPError) -> ClientError {
        guard error != .timedOut else { return .silent(socket: socket) }
        // The sentence around it names the socket and that there is no connection.
        let prefix = "no connection: \(socket): "
        let reason = error.description
        return .unreachable(
            socket: socket, reason: reason.hasPrefix(prefix) ? String(reason.dropFirst(prefix.count)) : reason
        )
    }

    /// The content of an answer that is no refusal.
    private func checked(_ response: HTTPResponse) throws(ClientError) -> [UInt8] {
        guard !(200..<300).contains(response.status) else { return response.body }
        guard let fields = try? JSONFields(parsing: response.body, limit: Self.largestAnswer),
            let value = try? fields.value("error"), let error = try? JSONFields(value, path: "error"),
            let code = try? error.text("code", limit: 256),
            let message = try? error.text("message", limit: 4096)
        else {
            throw .malformed("status \(response.status) without an explanation")
        }
        throw .refused(
            status: response.status, code: code, message: message,
            field: (try? error.text("field", limit: 256)) ?? nil)
    }
}
