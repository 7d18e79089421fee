// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Glibc
internal import Testing

@Suite("Limits of the server against slow and many clients")
struct ServerLimitTests {
    /// Sends a text byte by byte, without end, until the server closes; returns what the server sent.
    private static func drip(_ port: UInt16, _ first: String, _ rest: String) throws -> String {
        let descriptor = try Sockets.connect(port: port)
        defer { close(descriptor) }
        Sockets.send(descriptor, first)
        while Sockets.send(descriptor, rest) { usleep(10_000) }
        return Sockets.readAll(descriptor)
    }

    @Test(
        "a client that sends its request too slowly is cut off, however steadily it sends",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: a\r\nX-Note: ", "x"), ("GET /", "x"), ("", "\r\n"),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n", "x"),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
        ])
    func slowRequest(first: String, rest: String) async throws {
        let server = try TestServer(options: .with { $0.requestTimeout = .milliseconds(200) })
        let answer = try await blocking { [port = server.port] in try Self.drip(port, first, rest) }
        #expect(answer.isEmpty)
    }

    @Test("a connection that sends nothing is closed, before its first request and after one")
    func idle() async throws {
        let first = try TestServer(options: .with { $0.requestTimeout = .milliseconds(200) })
        #expect(try await first.exchange("").isEmpty)
        let next = try TestServer(options: .with { $0.keepAliveTimeout = .milliseconds(300) })
        let answer = try await next.exchange("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(parts(answer) == ("200", "GET /a [] - "))
    }

    @Test("the time of the handler does not count against the client")
    func slowHandler() async throws {
        let server = try TestServer(options: .with { $0.requestTimeout = .milliseconds(200) }) { request in
            try? await Task.sleep(for: .milliseconds(600))
            return await TestServer.echo(request)
        }
        // A client that the machine keeps from sending at once is cut off with right; then another one tries.
        try await eventually("an answer that took longer than a request may") {
            let answer = try await server.exchange(
                "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            return parts(answer) == ("200", "GET /a [] - ")
        }
    }

    @Test("a client that does not read its answer is cut off, and makes room for others")
    func slowReader() async throws {
        let size = 30_000_000
        let options = HTTPServerOptions.with {
            $0.responseTimeout = .milliseconds(200)
            $0.connectionLimit = 1
        }
        let server = try TestServer(options: options) { request in
            let body = request.path == "/large" ? [UInt8](repeating: 1, count: size) : []
            return .response(ServerResponse(status: 200, body: body))
        }
        let (answer, count) = try await blocking { [port = server.port] in
            let descriptor = try Sockets.connect(port: port)
            defer { close(descriptor) }
            Sockets.send(descriptor, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            // Has a connection only when the first one is gone. An answer that the machine holds up is cut off too.
            let request = "GET /small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            var small = ""
            for _ in 0..<100 where small.isEmpty { small = try Sockets.exchange(port: port, request) }
            return (small, Sockets.readAll(descriptor).utf8.count)
        }
        #expect(parts(answer).status == "200")
        #expect(count < size)
    }

    @Test("one address gets no more connections than allowed, and another address is served")
    func connectionsPerAddress() async throws {
        let server = try TestServer(options: .with { $0.connectionsPerAddress = 2 })
        let answers = try await blocking { [port = server.port] in
            let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            let first = try (0..<2).map { _ in try Sockets.connect(port: port) }
            let refused = try Sockets.exchange(port: port, request)
            let other = try Sockets.exchange(port: port, from: 2, request)
            for descriptor in first { close(descriptor) }
            return (refused, other)
        }
        #expect(answers.0.isEmpty)
        #expect(parts(answers.1).status == "200")
        try await eventually("room is made") {
            try await server.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").hasPrefix(
                "HTTP/1.1 200")
        }
    }

    @Test("connections beyond the limit wait until others have gone")
    func connectionLimit() async throws {
        let server = try TestServer(
            options: .with {
                $0.connectionLimit = 3
                $0.requestTimeout = .milliseconds(400)
            })
        let answer = try await blocking { [port = server.port] in
            let idle = try (0..<3).map { _ in try Sockets.connect(port: port) }
            defer { for descriptor in idle { close(descriptor) } }
            // Answered once the silent ones are cut off, unless the machine holds up this one for as long.
            let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            var answer = ""
            for _ in 0..<100 where answer.isEmpty { answer = try Sockets.exchange(port: port, request) }
            return answer
        }
        #expect(parts(answer).status == "200")
    }
}
