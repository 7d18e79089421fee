// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Glibc
internal import Synchronization
internal import Testing

@Suite("Answers of the server")
struct ServerReplyTests {
    private static let close = "Host: a\r\nConnection: close\r\n\r\n"

    @Test("an answer is sent as the handler made it", arguments: [200, 201, 301, 404, 418, 503, 599])
    func wholeAnswer(status: Int) async throws {
        let server = try TestServer { _ in
            let fields = [
                ("ETag", "\"x\""), ("X-A", "1"), ("X-A", "2"), ("Content-Length", "9"), ("X-None", ""),
            ]
            return .response(ServerResponse(status: status, headers: fields, body: Array("body".utf8)))
        }
        let answer = try await server.exchange("GET / HTTP/1.1\r\n\(Self.close)")
        #expect(parts(answer) == ("\(status)", "body"))
        #expect(answer.contains("\r\nETag: \"x\"\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 4\r\n"))
        #expect(!answer.contains("X-None"))
    }

    @Test("what every answer is to carry comes with each, refusals and streams too, and never twice")
    func everyAnswer() async throws {
        let options = HTTPServerOptions.with {
            $0.headers = [("X-Always", "1"), ("Cache-Control", "no-store")]
        }
        let server = try TestServer(options: options) { request in
            guard request.path == "/stream" else {
                return .response(ServerResponse(status: 200, headers: [("cache-control", "no-cache")]))
            }
            return .stream(ServerStream(attach: { $0.close() }))
        }
        for (target, status) in [("/", "200"), ("/stream", "200"), ("/%zz", "400")] {
            let answer = try await server.exchange("GET \(target) HTTP/1.1\r\n\(Self.close)")
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
            #expect(answer.contains("\r\nX-Always: 1\r\n"), "\(target)")
            let kept = target == "/" ? "cache-control: no-cache" : "Cache-Control: no-store"
            #expect(answer.contains("\r\n\(kept)\r\n"), "\(target)")
            #expect(answer.lowercased().split(separator: "cache-control").count == 2)
        }
    }

    @Test("answers without content have none, whatever the handler gives", arguments: [204, 304])
    func noContent(status: Int) async throws {
        let server = try TestServer { _ in .response(ServerResponse(status: status, body: [1, 2, 3])) }
        let answer = try await server.exchange("GET / HTTP/1.1\r\n\(Self.close)")
        #expect(parts(answer) == ("\(status)", ""))
    }

    @Test(
        "an answer that would break the protocol becomes status 500",
        arguments: [
            ServerResponse(status: 99), ServerResponse(status: 100), ServerResponse(status: 600),
            ServerResponse(status: 200, headers: [("A", "b\r\nC: d")]),
            ServerResponse(status: 200, headers: [("A b", "c")]),
            ServerResponse(status: 200, headers: [("", "c")]),
        ])
    func nonsense(response: ServerResponse) async throws {
        let server = try TestServer { _ in .response(response) }
        let answer = try await server.exchange("GET / HTTP/1.1\r\n\(Self.close)")
        #expect(parts(answer) == ("500", "the answer cannot be sent\n"))
    }

    @Test("a large answer arrives whole, over one connection again and again")
    func largeAnswer() async throws {
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let server = try TestServer { _ in .response(ServerResponse(status: 200, body: body)) }
        let client = HTTPClient()
        let options = HTTPClientOptions.patient(responseLimit: 3_000_000)
        for _ in 0..<3 {
            #expect(try await client.send(HTTPRequest(url: server.url()), options: options).body == body)
        }
    }

    @Test("handlers that wait do not hold up others")
    func concurrency() async throws {
        let arrived = Atomic(0)
        let server = try TestServer { request in
            arrived.add(1, ordering: .relaxed)
            // Nobody is answered before all have come.
            while arrived.load(ordering: .relaxed) < 40 { try? await Task.sleep(for: .milliseconds(5)) }
            return await TestServer.echo(request)
        }
        let client = HTTPClient()
        let options = HTTPClientOptions.patient
        let bodies = await withTaskGroup(of: String.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let answer = try? await client.send(
                        HTTPRequest(url: server.url("/\(number)")), options: options)
                    return String(decoding: answer?.body ?? [], as: UTF8.self)
                }
            }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(bodies == Set((0..<40).map { "GET /\($0) [] - " }))
    }

    @Test("a dropped request gets no byte")
    func drop() async throws {
        let server = try TestServer { _ in .drop }
        #expect(try await server.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").isEmpty)
        let client = HTTPClient()
        #expect(
            await failure {
                try await client.send(HTTPRequest(url: server.url()), options: .patient)
            }
                == .truncated)
    }

    @Test("a truncated answer announces all and sends a part", arguments: [0, 1, 4, 10, 50_000])
    func truncated(count: Int) async throws {
        let body = (0..<100_000).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        let server = try TestServer { _ in
            .truncated(ServerResponse(status: 200, headers: [("X-A", "b")], body: body), after: count)
        }
        let answer = try await server.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answer.contains("\r\nContent-Length: 100000\r\n"))
        #expect(answer.contains("\r\nX-A: b\r\n"))
        #expect(parts(answer).body == String(decoding: body.prefix(count), as: UTF8.self))
        let client = HTTPClient()
        let options = HTTPClientOptions.patient(responseLimit: 200_000)
        #expect(
            await failure { try await client.send(HTTPRequest(url: server.url()), options: options) }
                == .truncated)
    }

    @Test("a truncation at or past the end sends all", arguments: [4, 5])
    func truncatedPastEnd(count: Int) async throws {
        let server = try TestServer { _ in
            .truncated(ServerResponse(status: 200, body: Array("body".utf8)), after: count)
        }
        let answer = try await server.exchange("GET / HTTP/1.1\r\n\(Self.close)")
        #expect(parts(answer) == ("200", "body"))
    }
}
