// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Foundation
import Glibc
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Server")
struct ControlServerTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("the whole interface works over TLS with the development certificate")
    func wholePath() async throws {
        let server = try RunningServer(directory.path)
        try await withServer(server) { client in
            #expect(client.url.hasPrefix("https://127.0.0.1:"))
            let health = try await client.send("GET", "/healthz")
            #expect(health.status == 204)
            #expect(health.body.isEmpty)
            let device = try await client.device(token: server.token())
            #expect(device.config.serverPublicKey.base64 == RunningServer.publicKey)
            let config = try await client.config(device)
            #expect(config.difference(from: device.config) == .none)
            let query = "?device_id=\(device.id)"
            let forwards = try await client.send("GET", "/api/v1/forwards", query: query, as: device)
            #expect(forwards.status == 200)
            #expect(try ForwardsResponse(parsing: forwards.body).forwards.isEmpty)
            let tag = try #require(forwards.header("ETag"))
            let again = try await client.send(
                "GET", "/api/v1/forwards", query: query, as: device,
                headers: [(name: "If-None-Match", value: tag)])
            #expect(again.status == 304)
            let gone = try await client.send(
                "POST", "/api/v1/deprovision", as: device,
                body: DeprovisionRequest(deviceID: device.id).json())
            #expect(gone.status == 204)
            #expect(try await client.heartbeat(device).status == 410)
            let plain = try await client.send(
                "POST", "/api/v1/heartbeat", as: device, body: Array(device.news().utf8))
            #expect(plain.status == 400)
            #expect(try await client.send("GET", "/elsewhere").status == 404)
            #expect(try await client.send("GET", "/api/v1/provision").status == 405)
        }
        for line in server.log.lines { #expect(!line.contains("ngt_")) }
    }

    @Test("who does not trust the certificate does not speak to the server")
    func untrusted() async throws {
        let server = try RunningServer(directory.path)
        try await withServer(server) { client in
            let stranger = WireClient(client.url)
            let error = await #expect(throws: HTTPError.self) { try await stranger.send("GET", "/healthz") }
            guard case .tls = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test("the development certificate is private, stays over restarts, and follows the names")
    func developmentCertificate() async throws {
        let exported = directory.file("ca.pem")
        let state = directory.file("state")
        func certificate(_ arguments: String...) async throws -> [UInt8] {
            let server = try RunningServer(
                state, "--export-ca", exported, "--host-name", "127.0.0.1", "--host-name",
                arguments.first ?? "localhost")
            return try await withServer(server) { client in
                var trusting = client
                trusting.options.certificateAuthorityFile = exported
                #expect(try await trusting.send("GET", "/healthz").status == 204)
                return try directory.bytes(of: "ca.pem")
            }
        }
        let first = try await certificate()
        #expect(try await certificate() == first)
        #expect(try directory.mode(of: "ca.pem") == 0o644)
        #expect(try directory.mode(of: "state") == 0o700)
        for name in ["development-cert.pem", "development-key.pem", "control.db"] {
            #expect(try directory.mode(of: "state/\(name)") == 0o600)
        }
        #expect(try await certificate("control.example.net") != first)
        // A damaged key is no reason not to start.
        try directory.write([], to: "state/development-key.pem")
        try directory.write(Array("nonsense".utf8), to: "state/development-names")
        #expect(try await certificate("control.example.net") != first)
    }

    @Test("a given certificate and its key are used; files that are no such thing are an error")
    func givenCertificate() async throws {
        let identity = try DevelopmentCertificate.make(hostNames: [], addresses: ["127.0.0.1"])
        try directory.write(Array(identity.certificatePEM.utf8), to: "cert.pem")
        try directory.write(identity.withKeyPEM { Array($0) }, to: "key.pem")
        try directory.write(Array("nonsense".utf8), to: "bad.pem")
        let files = ["cert.pem", "key.pem", "bad.pem", "absent.pem"].map { directory.file($0) }
        let state = directory.file("state")
        let server = try RunningServer(state, "--tls-cert", files[0], "--tls-key", files[1])
        try await withServer(server) { client in
            let trusting = WireClient(client.url, authority: files[0])
            let response = try await trusting.send("GET", "/healthz")
            #expect(response.status == 204)
        }
        for (certificate, key) in [(files[2], files[1]), (files[0], files[2]), (files[3], files[1])] {
            let bad = try RunningServer(state, "--tls-cert", certificate, "--tls-key", key)
            await #expect(throws: ServeError.self) { try await bad.start() }
        }
    }

    @Test("plain HTTP works on loopback, on both families")
    func plain() async throws {
        for listener in ["127.0.0.1:0", "[::1]:0"] {
            let server = try RunningServer(directory.path, "--http", "--listen", listener)
            try await withServer(server) { client in
                #expect(client.url.hasPrefix("http://" + listener.dropLast(2)))
                let device = try await client.device(token: server.token())
                #expect(try await client.heartbeat(device).status == 200)
            }
        }
    }

    @Test("a restart keeps tokens, devices, keys and what was answered before")
    func restart() async throws {
        let first = try RunningServer(directory.path, "--http")
        let nonce = CryptoManager.randomBytes(16)
        let (device, unused) = try await withServer(first) { client in
            let device = try await client.device(token: first.token())
            #expect(try await client.heartbeat(device, nonce: nonce).status == 200)
            return (device, try await first.token())
        }
        let second = try RunningServer(directory.path, "--http")
        try await withServer(second) { client in
            #expect(try await client.heartbeat(device, nonce: nonce).status == 401)
            #expect(try await client.config(device).difference(from: device.config) == .none)
            let again = try await client.device(token: device.token)
            #expect(again.config.difference(from: device.config) == .none)
            #expect(try await client.device(token: unused, hwid: "hwid-2").id != device.id)
        }
    }

    @Test("a hundred requests at once with one token end in one identity")
    func concurrency() async throws {
        let server = try RunningServer(directory.path, "--http")
        try await withServer(server) { client in
            let token = try await server.token()
            let ids = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 { group.addTask { try await client.device(token: token).id } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
            let list = try await CommandBench(directory: directory.path).object("device", "list")
            #expect((list["devices"] as? [[String: Any]])?.count == 1)
        }
    }

    @Test("the sixth request for an identity in a minute is told when to come again")
    func rateLimit() async throws {
        let server = try RunningServer(directory.path, "--http", "--provisions-per-minute", "5")
        try await withServer(server) { client in
            for _ in 0..<5 { #expect(try await client.provision(token: "unknown").status == 401) }
            let refused = try await client.provision(token: server.token())
            #expect(refused.status == 429)
            let seconds = try #require(refused.header("Retry-After").flatMap { Int($0) })
            #expect((1...60).contains(seconds))
        }
    }

    @Test("a request that is too large is refused before it is read")
    func oversized() async throws {
        let server = try RunningServer(directory.path, "--http")
        try await withServer(server) { client in
            let body = [UInt8](repeating: UInt8(ascii: "x"), count: 200_000)
            let response = try await client.send("POST", "/api/v1/provision", body: body)
            #expect(response.status == 413)
        }
    }

    @Test("one server at a time runs with a state")
    func twoServers() async throws {
        let server = try RunningServer(directory.path, "--http")
        try await withServer(server) { _ in
            let second = try RunningServer(directory.path, "--http")
            let error = await #expect(throws: ServeError.self) { try await second.start() }
            #expect(error?.description.contains("another server runs") == true)
        }
        let third = try RunningServer(directory.path, "--http")
        try await withServer(third) { client in
            let response = try await client.send("GET", "/healthz")
            #expect(response.status == 204)
        }
    }

    @Test("the state is free as soon as its server has ended, whatever child has inherited")
    func inheritedLock() async throws {
        var inherited: [Int32] = []
        defer { for descriptor in inherited { close(descriptor) } }
        let server = try RunningServer(directory.path, "--http")
        try await withServer(server) { _ in
            let lock = directory.file("serve.lock")
            let holders = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
                name in
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/self/fd/\(name)")
                return target == lock
            }
            // What a child has between fork and exec: another descriptor of the same open file. Made only now, since
            // it may get a number that was in the list for another file.
            inherited = holders.compactMap { Int32($0) }.map { fcntl($0, F_DUPFD_CLOEXEC, 0) }
            #expect(inherited.count == 1)
        }
        let next = try RunningServer(directory.path, "--http")
        try await withServer(next) { client in
            let response = try await client.send("GET", "/healthz")
            #expect(response.status == 204)
        }
    }

    @Test("a port in use, a damaged state and devices outside the pools are clear errors")
    func startErrors() async throws {
        let server = try RunningServer(directory.file("a"), "--http")
        try await withServer(server) { client in
            _ = try await client.device(token: server.token())
            let port = try #require(client.url.split(separator: ":").last)
            let second = try RunningServer(directory.file("b"), "--http", "--listen", "127.0.0.1:\(port)")
            let error = await #expect(throws: ServeError.self) { try await second.start() }
            #expect(error?.description.contains("127.0.0.1") == true, "\(error?.description ?? "")")
        }
        let elsewhere = try RunningServer(directory.file("a"), "--http", "--pool", "10.99.0.0/24")
        let stray = await #expect(throws: ServeError.self) { try await elsewhere.start() }
        #expect(stray?.description.contains("10.172.21.2") == true)
        try directory.write(Array(repeating: 1, count: 9000), to: "a/control.db")
        let damaged = try RunningServer(directory.file("a"), "--http")
        let error = await #expect(throws: ServeError.self) { try await damaged.start() }
        #expect(error?.description.contains("is damaged or no database") == true)
    }
}
