// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Foundation
import Glibc
import NexusGuard
import NexusGuardControl
import Testing

@Suite("The programme", .enabled(if: ServerProgram.isBuilt))
struct ProcessTests {
    private let publicKey = "HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw="

    @Test("it serves until SIGTERM, answers commands beside it, and shows no secret anywhere")
    func life() async throws {
        let directory = try TemporaryDirectory()
        let state = directory.file("state")
        let authority = directory.file("ca.pem")
        let server = try ChildProgram([
            ServerProgram.path, "serve", "--state-dir", state, "--listen", "127.0.0.1:0", "--endpoint",
            "192.0.2.1:51820", "--public-key", publicKey, "--export-ca", authority, "--log-level", "debug",
        ])
        let client = WireClient(try await server.url(), authority: authority)
        let token = String(
            try await ChildProgram.run(ServerProgram.path, "token", "new", "--state-dir", state).dropLast())
        let device = try await client.device(token: token)
        #expect(try await client.heartbeat(device).status == 200)
        try await ChildProgram.run(ServerProgram.path, "rotate-keys", device.id, "--state-dir", state)
        #expect(try await client.config(device).difference(from: device.config) == .identity)
        #expect(try await client.provision(token: "ngt_wrong").status == 401)

        let id = server.pid
        let arguments = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(id)/cmdline"))
        server.send(SIGTERM)
        #expect(try await server.wait() == 0)
        let shown = server.output + server.errors + String(decoding: arguments, as: UTF8.self)
        let secrets = [
            token, "ngt_wrong", device.id, device.config.privateKey.base64,
            device.config.presharedKey?.base64 ?? "none",
        ]
        #expect(server.errors.contains("is provisioned"))
        for secret in secrets { #expect(!shown.contains(secret)) }
    }

    @Test("what the kill of a server leaves behind, the next one starts from")
    func kill() async throws {
        let directory = try TemporaryDirectory()
        let arguments = [
            ServerProgram.path, "serve", "--state-dir", directory.file("state"), "--listen", "127.0.0.1:0",
            "--http", "--endpoint", "192.0.2.1:51820", "--public-key", publicKey,
            "--provisions-per-minute", "1000",
        ]
        let token = String(
            try await ChildProgram.run(
                ServerProgram.path, "token", "new", "--state-dir", directory.file("state")
            ).dropLast())
        var ids: Set<String> = []
        for delay in [0, 3, 10, 30, 100] {
            let server = try ChildProgram(arguments)
            let client = WireClient(try await server.url())
            async let answer = try? client.device(token: token)
            try await Task.sleep(for: .milliseconds(delay))
            server.send(SIGKILL)
            #expect(try await server.wait() == 128 + SIGKILL)
            if let device = await answer { ids.insert(device.id) }
        }
        let server = try ChildProgram(arguments)
        let client = WireClient(try await server.url())
        ids.insert(try await client.device(token: token).id)
        #expect(ids.count == 1)
        server.send(SIGTERM)
        #expect(try await server.wait() == 0)
        let list = try await CommandBench(directory: directory.file("state")).object("device", "list")
        #expect((list["devices"] as? [[String: Any]])?.count == 1)
    }

    @Test("a start that fails is one sentence on standard error and status 1")
    func failure() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(Array(repeating: 9, count: 4096), to: "control.db")
        let server = try ChildProgram([
            ServerProgram.path, "serve", "--state-dir", directory.path, "--http", "--endpoint",
            "192.0.2.1:51820", "--public-key", publicKey,
        ])
        #expect(try await server.wait() == 1)
        #expect(server.output.isEmpty)
        #expect(server.errors.hasPrefix("nexusguard-control: \(directory.path)/control.db is damaged"))
        #expect(server.errors.split(separator: "\n").count == 1)
        let usage = try ChildProgram([ServerProgram.path, "serve"])
        #expect(try await usage.wait() == 2)
    }

    @Test(
        "with a tunnel it is the WireGuard server: packets pass, keys rotate, and nothing is left at the end",
        .enabled(if: ServerProgram.hasNamespaces))
    func tunnel() async throws {
        let directory = try TemporaryDirectory()
        let namespaces = try await Namespaces()
        do {
            try await tunnel(directory.file("state"), namespaces)
        } catch {
            try? await namespaces.remove()
            throw error
        }
        try await namespaces.remove()
    }

    private func tunnel(_ state: String, _ namespaces: Namespaces) async throws {
        let interface = "/sys/class/net/ngcontrol0"
        func start() throws -> ChildProgram {
            try ChildProgram([
                "ip", "netns", "exec", namespaces.first, ServerProgram.path, "serve", "--state-dir", state,
                "--with-tunnel", "--http", "--listen", "127.0.0.1:0", "--endpoint", "10.1.0.1:51820",
                "--pool",
                "10.172.21.0/24", "--pool", "fd00:21::/64",
            ])
        }
        func hasInterface() async throws -> Bool {
            let child = try ChildProgram(["ip", "netns", "exec", namespaces.first, "test", "-e", interface])
            return try await child.wait() == 0
        }
        let server = try start()
        let port = try #require(UInt16(try await server.url().split(separator: ":").last ?? ""))
        let token = String(
            try await ChildProgram.run(ServerProgram.path, "token", "new", "--state-dir", state).dropLast())
        let key = CryptoManager.deriveKey(token: token, hwid: "hwid-1")
        let answer = try await Namespaces.send(
            namespaces.first, "POST", "/api/v1/provision", port: port,
            body: try ProvisionRequest(token: token, hwid: "hwid-1").json())
        try #require(answer.status == 200)
        let envelope = try ProvisionResponse(parsing: answer.body)
        let config = try WireGuardConfigCodec.parse(
            CryptoManager.decrypt(encoded: envelope.encryptedConfig, key: key), requiresStatus: false)
        let device = TestDevice(token: token, hwid: "hwid-1", key: key, config: config)

        // The device's end: the engine with an interface of its own in the other namespace.
        let tunnel = Tunnel(name: "ng0", configuration: config.tunnelConfiguration(firewallMark: 0))
        try await Namespaces.within(namespaces.second) { try tunnel.start() }
        defer { tunnel.stop() }
        for address in ["10.172.21.2/24", "fd00:21::2/64"] {
            try await ChildProgram.run(
                "ip", "-n", namespaces.second, "address", "add", address, "dev", "ng0", "nodad")
        }
        func ping() async throws {
            for address in ["10.172.21.1", "fd00:21::1"] {
                try await ChildProgram.run(
                    "ip", "netns", "exec", namespaces.second, "ping", "-n", "-q", "-c", "1", "-w", "300",
                    address)
            }
        }
        try await ping()

        try await ChildProgram.run(ServerProgram.path, "rotate-keys", device.id, "--state-dir", state)
        try await ping()
        let body = Array(device.news().utf8)
        let proof = CryptoManager.requestAuthorization(
            method: "POST", path: "/api/v1/heartbeat", timestamp: Int64(Date().timeIntervalSince1970),
            body: body, deviceID: device.id, key: key)
        let beat = try await Namespaces.send(
            namespaces.first, "POST", "/api/v1/heartbeat", port: port,
            headers: [
                (name: "Authorization", value: proof), (name: "X-NexusGuard-Envelope", value: "aes-256-gcm"),
            ], body: body)
        let rotated = try HeartbeatResponse(
            parsing: beat.body, key: key, requiresEncryption: true
        ).config
        #expect(rotated.difference(from: config) == .identity)
        // Delivered is not used: the old keys still carry packets.
        try await ping()
        try tunnel.update(rotated.tunnelConfiguration(firewallMark: 0))
        try await ping()
        let bench = CommandBench(directory: state)
        try await eventually("only the new keys are left") {
            let keys = try await bench.object("device", "show", device.id)["keys"] as? [[String: Any]]
            return keys?.count == 1
                && keys?.first?["public_key"] as? String == rotated.privateKey.publicKey.base64
        }

        #expect(try await hasInterface())
        server.send(SIGTERM)
        #expect(try await server.wait() == 0)
        #expect(try await !hasInterface())

        // A killed server leaves nothing that hinders the next one; one that loses its interface ends.
        let killed = try start()
        _ = try await killed.url()
        killed.send(SIGKILL)
        _ = try await killed.wait()
        let next = try start()
        _ = try await next.url()
        try await ChildProgram.run("ip", "-n", namespaces.first, "link", "delete", "ngcontrol0")
        #expect(try await next.wait() == 1)
        #expect(next.errors.contains("the interface ngcontrol0 was removed"))
    }
}
