// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import CLinux
internal import Glibc
internal import Testing

@Suite("Connections of the client")
struct ClientConnectionTests {
    /// Answers every request of every connection.
    private func server() throws -> ScriptedServer {
        try ScriptedServer { server, connection in
            while let request = connection.request() {
                server.note(request)
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
    }

    /// Hears the second request of all and does not answer it; notes the methods.
    private func secondUnanswered() throws -> ScriptedServer {
        try ScriptedServer { server, connection in
            while let request = connection.request() {
                server.note(String(request.prefix { $0 != " " }))
                guard server.requests.count != 2 else { return }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
    }

    @Test("one connection serves many requests, until the client is reset")
    func reuse() async throws {
        let server = try server()
        let client = HTTPClient()
        for _ in 0..<5 {
            _ = try await client.send(HTTPRequest(url: server.url()), options: .patient)
        }
        #expect(server.connectionCount == 1)
        client.reset()
        for _ in 0..<5 {
            _ = try await client.send(HTTPRequest(url: server.url()), options: .patient)
        }
        #expect(server.connectionCount == 2)
        #expect(server.requests.count == 10)
    }

    @Test("a safe request is sent again when a kept connection ends without an answer")
    func deadConnection() async throws {
        let server = try secondUnanswered()
        let client = HTTPClient()
        _ = try await client.send(HTTPRequest(url: server.url()), options: .patient)
        _ = try await client.send(HTTPRequest(url: server.url()), options: .patient)
        #expect(server.requests == ["GET", "GET", "GET"])
        #expect(server.connectionCount == 2)
    }

    @Test("content that may have been heard is not sent again")
    func noRepetition() async throws {
        let server = try secondUnanswered()
        let client = HTTPClient()
        let request = HTTPRequest(method: "POST", url: server.url(), body: Array("{}".utf8))
        _ = try await client.send(request, options: .patient)
        #expect(
            await failure {
                try await client.send(request, options: .patient)
            } == .truncated)
        #expect(server.requests == ["POST", "POST"])
        #expect(try await client.send(request, options: .patient).status == 200)
    }

    @Test("given addresses take the place of the resolver, for this request alone")
    func givenAddresses() async throws {
        let server = try server()
        // No resolver can know this name, for it is too long (RFC 1035, section 2.3.4).
        let name = String(repeating: "b", count: 64)
        let client = HTTPClient()
        let request = HTTPRequest(url: "http://\(name):\(server.port)/")
        let options = HTTPClientOptions.patient(resolved: [(name, server.port, ["127.0.0.1"])])
        let answer = try await client.send(request, options: options)
        #expect(answer.remoteAddress == "127.0.0.1")
        #expect(server.requests.first?.contains("Host: \(name):\(server.port)\r\n") == true)
        // A new connection, for a kept one needs no address.
        client.reset()
        _ = try await client.send(request, options: options)
        let other = HTTPClientOptions.patient(resolved: [(name, server.port, ["not-an-address"])])
        #expect(
            await failure {
                try await client.send(request, options: other)
            } == .resolve("\(name) has an address that is not numeric"))
        client.reset()
        await #expect(throws: HTTPError.self) { try await client.send(request, options: .patient) }
        #expect(server.connectionCount == 2)
    }

    @Test("a host is reached at its second address when the first does not answer")
    func secondAddress() async throws {
        let server = try server()
        let options = HTTPClientOptions.patient(resolved: [
            ("control.test", server.port, ["127.0.0.2", "127.0.0.1"])
        ])
        let answer = try await HTTPClient().send(
            HTTPRequest(url: "http://control.test:\(server.port)/"), options: options)
        #expect(answer.remoteAddress == "127.0.0.1")
    }

    @Test(
        "sockets carry the mark and are closed on exec; different marks share no connection",
        .enabled(if: Privileges.isRoot, Privileges.reason))
    func mark() async throws {
        let server = try server()
        let client = HTTPClient()
        for mark: UInt32? in [0x4e47_0000, nil, 0x4e47_0000] {
            _ = try await client.send(
                HTTPRequest(url: server.url()), options: .patient(socketMark: mark))
        }
        #expect(server.connectionCount == 2)
        let sockets = Self.ownSockets(to: server.port)
        #expect(sockets.map(\.mark).sorted() == [0, 0x4e47_0000])
        #expect(sockets.map(\.isClosedOnExec) == [true, true])
    }

    /// The sockets of this process that are connected to a port.
    private static func ownSockets(to port: UInt16) -> [(mark: UInt32, isClosedOnExec: Bool)] {
        (3..<4096).compactMap { (descriptor: Int32) in
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
            }
            guard result == 0, address.sin_family == sa_family_t(AF_INET),
                UInt16(bigEndian: address.sin_port) == port
            else { return nil }
            var mark: UInt32 = 0
            size = socklen_t(MemoryLayout<UInt32>.size)
            getsockopt(descriptor, SOL_SOCKET, linux_so_mark, &mark, &size)
            return (mark, fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        }
    }
}
