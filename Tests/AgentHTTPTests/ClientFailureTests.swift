// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Glibc
internal import Testing

@Suite("How requests of the client fail")
struct ClientFailureTests {
    private let client = HTTPClient()
    /// Long enough that only what a test is about ends the request.
    private let patient = HTTPClientOptions.patient

    @Test(
        "an answer that ends too early is an error",
        arguments: [
            "", "HTTP/1.1 20", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123456789",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        ], [false, true])
    func truncated(part: String, byReset: Bool) async throws {
        let server = try ScriptedServer { _, connection in
            _ = connection.request()
            connection.send(part)
            if byReset { connection.reset() }
        }
        #expect(
            await failure {
                try await client.send(HTTPRequest(url: server.url()), options: patient)
            } == .truncated)
    }

    @Test("an answer of the limit is taken, and one byte more is too large")
    func tooLarge() async throws {
        let server = try ScriptedServer { _, connection in
            guard let request = connection.request() else { return }
            let body = String(repeating: "x", count: request.contains("/more") ? 1001 : 1000)
            if request.contains("length=no") {
                connection.send("HTTP/1.1 200 OK\r\n\r\n\(body)")
            } else {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        var options = patient
        options.responseLimit = 1000
        for length in ["yes", "no"] {
            let answer = try await client.send(
                HTTPRequest(url: server.url("/just?length=\(length)")), options: options)
            #expect(answer.body.count == 1000)
            #expect(
                await failure {
                    try await client.send(
                        HTTPRequest(url: server.url("/more?length=\(length)")), options: options)
                } == .tooLarge)
        }
    }

    @Test("an endless header and endless content are cut off")
    func endless() async throws {
        let server = try ScriptedServer { _, connection in
            guard let request = connection.request() else { return }
            connection.send("HTTP/1.1 200 OK\r\n")
            if request.contains("/content") { connection.send("\r\n") }
            while connection.send("X-Long: \(String(repeating: "y", count: 1000))\r\n") {}
        }
        for path in ["/header", "/content"] {
            #expect(
                await failure {
                    try await client.send(HTTPRequest(url: server.url(path)), options: patient)
                } == .tooLarge)
        }
    }

    @Test(
        "what is not HTTP is no answer",
        arguments: ["SSH-2.0-x\r\n", "<html></html>\n", "HTTP/9.9 200 x\r\n\r\n"])
    func notHTTP(text: String) async throws {
        let server = try ScriptedServer { _, connection in
            _ = connection.request()
            connection.send(text)
        }
        #expect(
            await failure {
                try await client.send(HTTPRequest(url: server.url()), options: patient)
            } == .other("the answer is not HTTP/1.1"))
    }

    @Test("the total time-out ends an exchange in the middle of the content")
    func totalTimeout() async throws {
        let server = try ScriptedServer { _, connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            // For ever: only the time-out can end this exchange.
            while connection.send("x") { usleep(20_000) }
        }
        var options = patient
        options.totalTimeout = .milliseconds(400)
        options.responseLimit = .max
        #expect(
            await failure {
                try await client.send(HTTPRequest(url: server.url()), options: options)
            } == .timedOut)
    }

    @Test("the time-out of connecting covers a handshake of TLS that never comes")
    func connectTimeout() async throws {
        let server = try ScriptedServer { _, connection in connection.waitForClose() }
        var options = patient
        options.connectTimeout = .milliseconds(300)
        #expect(
            await failure {
                try await client.send(HTTPRequest(url: "https://127.0.0.1:\(server.port)/"), options: options)
            } == .timedOut)
    }

    @Test(
        "a port that nobody listens at and a path without a socket are told apart from a name without address"
    )
    func noConnection() async throws {
        // Held, so that no other test can get the port.
        let (descriptor, port) = try Sockets.reserve()
        defer { close(descriptor) }
        #expect(
            await failure {
                try await client.send(HTTPRequest(url: "http://127.0.0.1:\(port)/"), options: patient)
            } == .connect("Connection refused"))
        #expect(
            await failure {
                try await client.send(
                    HTTPRequest(url: "http://agent/", unixSocket: "/nowhere/a.sock"), options: patient)
            } == .connect("/nowhere/a.sock: No such file or directory"))
        // Too long for a name of DNS (RFC 1035, section 2.3.4), so no resolver is asked.
        let name = String(repeating: "a", count: 64)
        do {
            _ = try await client.send(HTTPRequest(url: "http://\(name)/"), options: patient)
            Issue.record("the name has an address")
        } catch {
            guard case .resolve = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test(
        "cancelling the task ends an exchange at every stage", arguments: ["", "HTTP/1.1 200 OK\r\n\r\nabc"])
    func cancellation(part: String) async throws {
        let server = try ScriptedServer { server, connection in
            server.note(connection.request() ?? "")
            connection.send(part)
            connection.waitForClose()
            server.note("closed")
        }
        let task = Task { [client, patient] in
            try await client.send(HTTPRequest(url: server.url()), options: patient)
        }
        try await eventually("the request is there") { server.requests.count == 1 }
        task.cancel()
        #expect(await failure { try await task.value } == .cancelled)
        // The connection does not linger.
        try await eventually("the connection is closed") { server.requests.count == 2 }
    }

    @Test("a task that is cancelled before it sends opens no connection")
    func cancelledBefore() async throws {
        let server = try ScriptedServer { _, connection in connection.waitForClose() }
        let task = Task { [client, patient] in
            while !Task.isCancelled { await Task.yield() }
            return try await client.send(HTTPRequest(url: server.url()), options: patient)
        }
        task.cancel()
        #expect(await failure { try await task.value } == .cancelled)
        #expect(server.connectionCount == 0)
    }

    @Test("many requests at once, half of them cancelled, each get their own result")
    func manyAtOnce() async throws {
        let server = try ScriptedServer { _, connection in
            guard let request = connection.request() else { return }
            if request.contains("/wait") {
                connection.waitForClose()
            } else {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let results = await withTaskGroup(of: String.self) { group in
            for number in 0..<60 {
                group.addTask { [client, patient] in
                    let request = HTTPRequest(url: server.url(number.isMultiple(of: 2) ? "/wait" : "/go"))
                    let task = Task { () throws(HTTPError) in try await client.send(request, options: patient)
                    }
                    if number.isMultiple(of: 2) { task.cancel() }
                    do { return "\(try await task.value.status)" } catch { return "\(error)" }
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(results == ["200": 30, "the request was cancelled": 30])
    }
}
