// SPDX-License-Identifier: MIT

import AgentHTTP
import Synchronization

/// A server that answers as a test says, and remembers what it was asked.
final class ScriptedTransport: HTTPTransport {
    /// One answer.
    typealias Script = @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse

    private struct Memory {
        var script: Script
        var requests: [HTTPRequest] = []
        var options: [HTTPClientOptions] = []
        var inFlight = 0
        var mostInFlight = 0
    }

    private let memory: Mutex<Memory>

    init(_ script: @escaping Script = { _ throws(HTTPError) in throw .connect("nobody listens") }) {
        memory = Mutex(Memory(script: script))
    }

    /// Answers each request so.
    convenience init(
        status: Int, _ body: [UInt8] = [], headers: [(name: String, value: String)] = []
    ) {
        self.init { _ throws(HTTPError) in HTTPResponse(status: status, headers: headers, body: body) }
    }

    /// Fails each request so.
    convenience init(_ error: HTTPError) { self.init { _ throws(HTTPError) in throw error } }

    /// Answers so from now on.
    func answer(_ script: @escaping Script) { memory.withLock { $0.script = script } }

    var requests: [HTTPRequest] { memory.withLock { $0.requests } }
    var options: [HTTPClientOptions] { memory.withLock { $0.options } }
    /// The most requests that were in flight together.
    var mostInFlight: Int { memory.withLock { $0.mostInFlight } }

    func send(
        _ request: HTTPRequest, options: HTTPClientOptions
    ) async throws(HTTPError) -> HTTPResponse {
        let script = memory.withLock { memory in
            memory.requests.append(request)
            memory.options.append(options)
            memory.inFlight += 1
            memory.mostInFlight = max(memory.mostInFlight, memory.inFlight)
            return memory.script
        }
        defer { memory.withLock { $0.inFlight -= 1 } }
        return try await script(request)
    }
}

extension HTTPRequest {
    /// The value of a field.
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The content as text.
    var text: String { String(decoding: body ?? [], as: UTF8.self) }
}
