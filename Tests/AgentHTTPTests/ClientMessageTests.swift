// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Testing

@Suite("What the client sends and understands")
struct ClientMessageTests {
    private let client = HTTPClient()

    @Test("an answer is returned with its status, header fields, content and the server's address")
    func wholeAnswer() async throws {
        let server = try ScriptedServer { server, connection in
            server.note(connection.request() ?? "")
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-One:  a b \r\nx-one: c\r\nX-Empty:\r\n\r\nhello")
        }
        let request = HTTPRequest(url: server.url("/a%20b?c=d"), headers: [("X-Sent", "v"), ("X-None", "")])
        let answer = try await client.send(request, options: .patient)
        #expect(answer.status == 200)
        #expect(answer.body == Array("hello".utf8))
        #expect(answer.header("X-ONE") == "a b")
        #expect(answer.headers.map(\.value) == ["5", "a b", "c", ""])
        #expect(answer.header("X-Absent") == nil)
        #expect(answer.remoteAddress == "127.0.0.1")
        let sent =
            "GET /a%20b?c=d HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nX-Sent: v\r\nX-None:\r\n\r\n"
        #expect(server.requests == [sent])
    }

    @Test("content is sent with its length and nothing that was not asked for")
    func contentIsSent() async throws {
        let server = try ScriptedServer { server, connection in
            while let request = connection.request() {
                server.note(request)
                connection.send("HTTP/1.1 204 No Content\r\n\r\n")
            }
        }
        let large = [UInt8](repeating: UInt8(ascii: "x"), count: 2_000_000)
        for (method, body) in [("POST", Array("{}".utf8)), ("PUT", []), ("POST", large)] {
            let request = HTTPRequest(
                method: method, url: server.url(), headers: [("Content-Type", "application/json")], body: body
            )
            #expect(try await client.send(request, options: .patient).status == 204)
        }
        _ = try await client.send(
            HTTPRequest(method: "POST", url: server.url()), options: .patient)
        _ = try await client.send(
            HTTPRequest(method: "DELETE", url: server.url()), options: .patient)
        func head(_ method: String, _ rest: String) -> String {
            "\(method) / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(rest)\r\n"
        }
        let json = "Content-Type: application/json\r\n"
        let sent = server.requests
        try #require(sent.count == 5)
        #expect(sent[0] == head("POST", "\(json)Content-Length: 2\r\n") + "{}")
        #expect(sent[1] == head("PUT", "\(json)Content-Length: 0\r\n"))
        #expect(
            sent[2] == head("POST", "\(json)Content-Length: 2000000\r\n")
                + String(repeating: "x", count: 2_000_000))
        #expect(sent[3] == head("POST", "Content-Length: 0\r\n"))
        #expect(sent[4] == head("DELETE", ""))
        #expect(server.connectionCount == 1)
    }

    @Test("an answer to HEAD has the length in its header and no content")
    func headHasNoContent() async throws {
        let server = try ScriptedServer { _, connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n")
            connection.waitForClose()
        }
        let answer = try await client.send(
            HTTPRequest(method: "HEAD", url: server.url()), options: .patient)
        #expect(answer.header("content-length") == "500000")
        #expect(answer.body.isEmpty)
    }

    @Test("a redirect is returned and not followed", arguments: [301, 302, 303, 307, 308])
    func redirectIsReturned(status: Int) async throws {
        let server = try ScriptedServer { server, connection in
            while let request = connection.request() {
                server.note(request)
                connection.send("HTTP/1.1 \(status) Moved\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let answer = try await client.send(HTTPRequest(url: server.url("/a")), options: .patient)
        #expect(answer.status == status)
        #expect(answer.header("location") == "/b")
        #expect(server.requests.count == 1)
    }

    @Test("interim answers and fields after the content do not count")
    func interimAndTrailer() async throws {
        let server = try ScriptedServer { _, connection in
            _ = connection.request()
            connection.send("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
            connection.send("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nTrailer: X-Late\r\n\r\n")
            connection.send("3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nX-Late: 1\r\n\r\n")
            connection.waitForClose()
        }
        let answer = try await client.send(HTTPRequest(url: server.url()), options: .patient)
        #expect(answer.status == 201)
        #expect(answer.body == Array("abcdefg".utf8))
        #expect(answer.headers.map(\.name) == ["Transfer-Encoding", "Trailer"])
    }

    @Test(
        "only http and https URLs with a host and without a user are taken",
        arguments: [
            "", "127.0.0.1/", "//127.0.0.1/", "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/",
            "http://", "http:///path", "http://user@127.0.0.1/", "https://user:word@127.0.0.1/",
            "http://127.0.0.1:99999/", "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y", "http://[::1/",
        ])
    func badURL(url: String) async throws {
        #expect(
            await failure {
                try await client.send(HTTPRequest(url: url), options: .patient)
            } == .invalidURL)
    }

    @Test("a header field cannot smuggle in another one")
    func noInjection() async throws {
        let server = try ScriptedServer { server, connection in server.note(connection.request() ?? "") }
        for (name, value) in [("A", "b\r\nC: d"), ("A\r\nC", "d"), ("A:", "b"), ("", "b"), ("A", "b\u{0}c")] {
            let request = HTTPRequest(url: server.url(), headers: [(name, value)])
            #expect(
                await failure {
                    try await client.send(request, options: .patient)
                } == .other("a header field has an invalid name or value"))
        }
        #expect(
            await failure {
                try await client.send(
                    HTTPRequest(method: "GET /x HTTP/1.1\r\n", url: server.url()),
                    options: .patient)
            } == .other("the method is no token"))
        #expect(server.connectionCount == 0)
    }

    @Test("a unix socket takes the place of the URL's host")
    func unixSocket() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sock")
        let server = try ScriptedServer(unixPath: path) { server, connection in
            server.note(connection.request() ?? "")
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let request = HTTPRequest(url: "http://agent/status", unixSocket: path)
        let answer = try await client.send(request, options: .patient(socketMark: 1))
        #expect(answer.body == Array("ok".utf8))
        #expect(answer.remoteAddress == nil)
        #expect(server.requests == ["GET /status HTTP/1.1\r\nHost: agent\r\n\r\n"])
    }
}
