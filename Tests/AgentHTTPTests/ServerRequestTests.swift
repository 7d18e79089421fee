// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Glibc
internal import Synchronization
internal import Testing

@Suite("Requests as the server reads them")
struct ServerRequestTests {
    @Test("a handler gets method, path, query, header fields and content")
    func wholeRequest() async throws {
        let server = try TestServer()
        let answer = try await server.exchange(
            "POST /a%20b/%C3%A4?x=1%2B1&y=a+b&z&=q&x=2 HTTP/1.1\r\nHost: a\r\nx-note:  n \r\n"
                + "Content-Length: 5\r\nConnection: close\r\n\r\nhello")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(parts(answer).body == "POST /a b/ä [x=1+1;y=a b;z=;=q;x=2] n hello")
        #expect(answer.contains("\r\nContent-Length: 44\r\n"))
        #expect(answer.contains("\r\nContent-Type: text/plain\r\n"))
        #expect(answer.contains("\r\nDate: "))
    }

    @Test("content in chunks is put together, with extensions and trailers left out")
    func chunks() async throws {
        let server = try TestServer()
        let answer = try await server.exchange(
            "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                + "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nX-Note: late\r\n\r\n")
        #expect(parts(answer).body == "PUT / [] - abc0123456789")
    }

    @Test("an unknown method reaches the handler, and HEAD is answered without content")
    func methods() async throws {
        let server = try TestServer()
        let answer = try await server.exchange("FROB / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(parts(answer) == ("200", "FROB / [] - "))
        let head = try await server.exchange("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(parts(head) == ("200", ""))
        #expect(head.contains("\r\nContent-Length: 12\r\n"))
    }

    @Test("requests that follow each other without waiting are answered in order")
    func pipeline() async throws {
        let server = try TestServer()
        let answer = try await server.exchange(
            "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"
                + "GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let bodies = answer.split(separator: "\r\n\r\n").dropFirst().map { $0.prefix { $0 != "[" } }
        #expect(bodies == ["GET /1 ", "POST /2 ", "GET /3 "])
    }

    @Test("a client of HTTP/1.0 is answered and its connection closed")
    func oldVersion() async throws {
        let server = try TestServer()
        #expect(parts(try await server.exchange("GET /old HTTP/1.0\r\n\r\n")) == ("200", "GET /old [] - "))
    }

    @Test("the form of targets that proxies use is understood")
    func absoluteTarget() async throws {
        let server = try TestServer()
        for (target, path) in [
            ("http://a/b?c=d", "/b [c=d]"), ("HTTP://a", "/ []"), ("http://a?c=d", "/ [c=d]"), ("*", "* []"),
        ] {
            let answer = try await server.exchange(
                "OPTIONS \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(parts(answer).body == "OPTIONS \(path) - ")
        }
    }

    @Test(
        "what is malformed or contradicts itself never reaches the handler",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: a\r\nBad Name: b\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: a\r\nX-Space : b\r\n\r\n", "400"),
            ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("GET /?a=%c3 HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("GET a HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "400"
            ),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", "400"),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1x\r\n\r\na", "400"),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n", "400"),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nabc", "501"),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "400"),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", "400"),
            ("GET / HTTP/2.7\r\nHost: a\r\n\r\n", "505"),
            ("\u{1}\u{2}\u{3}\r\n\r\n", ""),
            ("GET\r\n\r\n", ""),
        ])
    func malformed(text: String, status: String) async throws {
        let calls = Atomic(0)
        let server = try TestServer { request in
            calls.add(1, ordering: .relaxed)
            return await TestServer.echo(request)
        }
        #expect(parts(try await server.exchange(text)).status == status)
        #expect(calls.load(ordering: .relaxed) == 0)
        // The server lives on.
        let answer = try await server.exchange("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(parts(answer).body == "GET /x [] - ")
    }

    @Test("a header of the limit is read, and one that is larger is refused")
    func largeHeader() async throws {
        let server = try TestServer(options: .with { $0.headerLimit = 16_384 })
        let note = String(repeating: "n", count: 10_000)
        let answer = try await server.exchange(
            "GET / HTTP/1.1\r\nHost: a\r\nX-Note: \(note)\r\nConnection: close\r\n\r\n")
        #expect(parts(answer).body == "GET / [] \(note) ")
        let long = String(repeating: "n", count: 40_000)
        #expect(
            parts(try await server.exchange("GET / HTTP/1.1\r\nHost: a\r\nX-Note: \(long)\r\n\r\n")).status
                == "431")
        #expect(parts(try await server.exchange("GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n")).status == "414")
    }

    @Test("content of the limit is taken, and one byte more is refused, however it is announced")
    func largeContent() async throws {
        let server = try TestServer(options: .with { $0.bodyLimit = 1000 })
        let most = String(repeating: "x", count: 1000)
        let head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
        let just = try await server.exchange("\(head)Content-Length: 1000\r\n\r\n\(most)")
        #expect(parts(just).body.hasSuffix(" \(most)"))
        let chunked = try await server.exchange(
            "\(head)Transfer-Encoding: chunked\r\n\r\n3e8\r\n\(most)\r\n0\r\n\r\n")
        #expect(parts(chunked).body.hasSuffix(" \(most)"))
        let more = try await server.exchange("\(head)Content-Length: 1001\r\n\r\n\(most)x")
        #expect(parts(more) == ("413", "the content is too large\n"))
        let moreChunks = try await server.exchange(
            "\(head)Transfer-Encoding: chunked\r\n\r\n3e8\r\n\(most)\r\n1\r\nx\r\n0\r\n\r\n")
        #expect(parts(moreChunks).status == "413")
        // Refused before it is sent: the client waits for leave, or would send too much to be read in vain.
        let expected = try await server.exchange(
            "\(head)Content-Length: 2000\r\nExpect: 100-continue\r\n\r\n")
        #expect(parts(expected).status == "413")
        let hopeless = try await server.exchange("\(head)Content-Length: 900000000000\r\n\r\n")
        #expect(parts(hopeless).status == "413")
    }

    @Test("content without end is cut off")
    func endlessContent() async throws {
        let server = try TestServer(options: .with { $0.bodyLimit = 1000 })
        let count = try await blocking { [port = server.port] in
            let descriptor = try Sockets.connect(port: port)
            defer { close(descriptor) }
            Sockets.send(descriptor, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = "1000\r\n\(String(repeating: "x", count: 4096))\r\n"
            var count = 0
            while Sockets.send(descriptor, chunk), count < 100_000 { count += 1 }
            return count
        }
        #expect(count < 100_000)
    }

    @Test("leave to send is given when the content is small enough")
    func leave() async throws {
        let server = try TestServer()
        let (leave, answer) = try await blocking { [port = server.port] in
            let descriptor = try Sockets.connect(port: port)
            defer { close(descriptor) }
            let head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n"
            Sockets.send(descriptor, "\(head)Expect: 100-continue\r\n\r\n")
            var buffer = [UInt8](repeating: 0, count: 25)
            recv(descriptor, &buffer, 25, Int32(MSG_WAITALL))
            Sockets.send(descriptor, "ok")
            return (String(decoding: buffer, as: UTF8.self), Sockets.readAll(descriptor))
        }
        #expect(leave == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(parts(answer) == ("200", "POST / [] - ok"))
    }
}
