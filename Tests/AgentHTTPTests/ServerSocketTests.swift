// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Foundation
internal import Glibc
internal import Testing

@Suite("Sockets of the server")
struct ServerSocketTests {
    /// Answers with who asks.
    private static let whoAsks: @Sendable (ServerRequest) async -> ServerReply = { request in
        let text =
            switch request.peer {
            case .unix(let uid, let gid, let pid, let groups): "\(uid) \(gid) \(pid) \(groups.sorted())"
            case .network(let address, let port): "\(address) \(port > 0) \(request.isTLS)"
            }
        return .response(ServerResponse(status: 200, body: Array(text.utf8)))
    }

    private func server(_ listeners: HTTPListener...) throws -> HTTPServer {
        let server = HTTPServer(listeners: listeners, options: .with { _ in }, handler: Self.whoAsks)
        try server.start()
        return server
    }

    private func ask(_ path: String) async throws -> String {
        let request = HTTPRequest(url: "http://agent/", unixSocket: path)
        let answer = try await HTTPClient().send(request, options: .patient)
        return String(decoding: answer.body, as: UTF8.self)
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    @Test(
        "a unix socket has the permissions asked for, and its path goes with the server",
        arguments: [0o666, 0o600])
    func unixSocket(mode: UInt32) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sock")
        let server = try server(.unix(path: path, mode: mode))
        #expect(self.mode(path) == mode)
        #expect(server.port == nil)
        let groups = try ownGroups()
        #expect(try await ask(path) == "\(getuid()) \(getgid()) \(getpid()) \(groups)")
        server.stop()
        #expect(self.mode(path) == nil)
    }

    /// This process's groups as the system's `id` sees them.
    private func ownGroups() throws -> [Int] {
        let text = try Command.run("id", "-G").text
        return text.split { !$0.isNumber }.compactMap { Int($0) }.sorted()
    }

    @Test(
        "the peer of a unix socket is seen with its user, group, process and supplementary groups",
        .enabled(if: Privileges.isRoot, Privileges.reason))
    func otherUser() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sock")
        let server = try server(.unix(path: path, mode: 0o666))
        defer { server.stop() }
        let many = (2000..<2100).map { "\($0)" }.joined(separator: ",")
        for (groups, seen) in [
            ("[]", "[4321]"), ("[4321,4322,4323]", "[4321, 4322, 4323]"), ("[\(many)]", nil),
        ] {
            let script = """
                import os, socket
                os.setgroups(\(groups)); os.setgid(4321); os.setuid(1234)
                s = socket.socket(socket.AF_UNIX); s.connect("\(path)")
                s.send(b"GET / HTTP/1.0\\r\\n\\r\\n")
                print(os.getpid(), s.makefile().read().split("\\n\\n")[1], sep="|")
                """
            let result = try await blocking { try Command.run("python3", "-c", script) }
            let halves = result.text.split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            try #require(halves.count == 2, "\(result)")
            let expected =
                seen ?? "[" + (Array(2000..<2100) + [4321]).map { "\($0)" }.joined(separator: ", ") + "]"
            #expect(halves[1] == "1234 4321 \(halves[0]) \(expected)")
        }
    }

    @Test("a socket that nobody listens on is replaced; anything else at the path stays")
    func occupiedPath() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sock")
        let (descriptor, _) = try Sockets.listen(unixPath: path)
        #expect(throws: HTTPServerError.pathInUse(path)) { try server(.unix(path: path, mode: 0o600)) }
        close(descriptor)
        #expect(mode(path) != nil)
        let first = try server(.unix(path: path, mode: 0o600))
        #expect(throws: HTTPServerError.pathInUse(path)) { try server(.unix(path: path, mode: 0o600)) }
        #expect(try await !ask(path).isEmpty)
        first.stop()

        let file = try folder.write("x", to: "file")
        #expect(throws: HTTPServerError.pathInUse(file)) { try server(.unix(path: file, mode: 0o600)) }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "x")
        let link = folder.file("link")
        #expect(symlink(folder.file("nowhere"), link) == 0)
        #expect(throws: HTTPServerError.pathInUse(link)) { try server(.unix(path: link, mode: 0o600)) }
        let lost = folder.file("absent/a.sock")
        #expect(throws: HTTPServerError.bind(address: lost, errno: ENOENT)) {
            try server(.unix(path: lost, mode: 0o600))
        }
        let long = folder.file(String(repeating: "x", count: 120))
        #expect(throws: HTTPServerError.invalidAddress(long)) { try server(.unix(path: long, mode: 0o600)) }
    }

    @Test("a path that has become another's is not removed")
    func takenPath() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sock")
        let server = try server(.unix(path: path, mode: 0o600))
        #expect(rename(path, folder.file("moved")) == 0)
        let (descriptor, _) = try Sockets.listen(unixPath: path)
        defer { close(descriptor) }
        server.stop()
        #expect(mode(path) != nil)
    }

    @Test("a TCP port is bound at exactly one address, of either family")
    func exactAddress() async throws {
        let first = try server(.tcp(address: "127.0.0.1", port: 0, tls: nil))
        let port = try #require(first.port)
        #expect(throws: HTTPServerError.bind(address: "127.0.0.1:\(port)", errno: EADDRINUSE)) {
            try server(.tcp(address: "127.0.0.1", port: port, tls: nil))
        }
        // The same port is free elsewhere, so nothing but the address was taken.
        let second = try server(.tcp(address: "127.0.0.2", port: port, tls: nil))
        var hosts = [("127.0.0.1", "127.0.0.1"), ("127.0.0.2", "127.0.0.1")]
        var servers = [first, second]
        if Sockets.hasIPv6 {
            servers.append(try server(.tcp(address: "::1", port: port, tls: nil)))
            hosts.append(("[::1]", "::1"))
        }
        for (host, address) in hosts {
            let answer = try await HTTPClient().send(
                HTTPRequest(url: "http://\(host):\(port)/"), options: .patient)
            #expect(String(decoding: answer.body, as: UTF8.self) == "\(address) true false")
        }
        for server in servers { server.stop() }
        for address in ["localhost", "", "127.0.0.1.5", "x"] {
            #expect(throws: HTTPServerError.invalidAddress(address)) {
                try server(.tcp(address: address, port: 0, tls: nil))
            }
        }
        #expect(throws: HTTPServerError.bind(address: "192.0.2.1:0", errno: EADDRNOTAVAIL)) {
            try server(.tcp(address: "192.0.2.1", port: 0, tls: nil))
        }
    }

    @Test("an inherited socket is served, and several listeners at once; one that fails ends them all")
    func severalListeners() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sock")
        // 127.0.3.1 has all its ports to itself, so that nobody takes this one once the server has stopped.
        let (descriptor, port) = try Sockets.listen(unixPath: nil, host: 0x0301)
        let request = HTTPRequest(url: "http://127.0.3.1:\(port)/")
        let server = try server(.descriptor(descriptor), .unix(path: path, mode: 0o600))
        #expect(server.port == port)
        #expect(try await !ask(path).isEmpty)
        #expect(try await HTTPClient().send(request, options: .patient).status == 200)
        server.stop()
        #expect(
            await failure { try await HTTPClient().send(request, options: .patient) }
                == .connect("Connection refused"))

        #expect(throws: HTTPServerError.invalidAddress("descriptor 0")) {
            try self.server(.unix(path: path, mode: 0o600), .descriptor(0))
        }
        #expect(mode(path) == nil)
        #expect(throws: HTTPServerError.invalidAddress("descriptor -1")) { try self.server(.descriptor(-1)) }
    }
}
