// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Glibc
internal import Synchronization
internal import Testing

@Suite("Event streams of the client")
struct ClientStreamTests {
    /// Collects what a stream brings.
    private final class Collector: Sendable {
        private let state = Mutex((text: "", statuses: [Int]()))
        var text: String { state.withLock { $0.text } }
        var statuses: [Int] { state.withLock { $0.statuses } }
        func add(_ bytes: [UInt8]) { state.withLock { $0.text += String(decoding: bytes, as: UTF8.self) } }
        func add(_ answer: HTTPResponse) {
            state.withLock { $0.statuses.append(answer.status) }
        }
    }

    private let client = HTTPClient()
    /// Would end an ordinary request before anything comes.
    private let impatient = HTTPClientOptions(
        connectTimeout: .seconds(600), totalTimeout: .milliseconds(1), responseLimit: 10)

    @Test("a stream goes past the total time-out and the limit of size, in order, after its header")
    func order() async throws {
        let server = try ScriptedServer { _, connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for number in 0..<20 {
                connection.send("8\r\ndata: \(number / 10)\(number % 10)\r\n")
                usleep(5000)
            }
            connection.send("0\r\n\r\n")
            connection.waitForClose()
        }
        let collector = Collector()
        let answer = try await client.stream(
            HTTPRequest(url: server.url()), options: impatient,
            onResponse: { answer in
                #expect(collector.text.isEmpty)
                collector.add(answer)
            }, onBytes: { collector.add($0) })
        #expect(answer.status == 200)
        #expect(answer.body.isEmpty)
        #expect(collector.statuses == [200])
        #expect(collector.text == (0..<20).map { "data: \($0 / 10)\($0 % 10)" }.joined())
    }

    @Test("an answer that is no success is returned with its content")
    func refusal() async throws {
        let server = try ScriptedServer { _, connection in
            _ = connection.request()
            connection.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        }
        let collector = Collector()
        let answer = try await client.stream(HTTPRequest(url: server.url()), options: .patient) {
            collector.add($0)
        }
        #expect(answer.status == 403)
        #expect(answer.body == Array("no".utf8))
        #expect(collector.text.isEmpty)
    }

    @Test("a stream that is cut off, silent for too long or cancelled ends with the reason")
    func endings() async throws {
        let server = try ScriptedServer { server, connection in
            let request = connection.request() ?? ""
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
            server.note(request)
            if request.contains("/cut") { return }
            connection.waitForClose()
        }
        let cut = HTTPRequest(url: server.url("/cut"))
        #expect(
            await failure {
                try await client.stream(cut, options: impatient, onBytes: { _ in })
            } == .truncated)
        var options = impatient
        options.streamIdleTimeout = .seconds(1)
        #expect(
            await failure {
                try await client.stream(
                    HTTPRequest(url: server.url("/silent")), options: options, onBytes: { _ in })
            } == .timedOut)
        let collector = Collector()
        let task = Task { [client, impatient] in
            try await client.stream(HTTPRequest(url: server.url("/cancel")), options: impatient) {
                collector.add($0)
            }
        }
        try await eventually("the stream has begun") { collector.text == "x" }
        task.cancel()
        #expect(await failure { try await task.value } == .cancelled)
    }
}
