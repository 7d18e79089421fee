// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Commands beside a running server, and faults on the wire")
struct RunningCommandTests {
    let directory: TemporaryDirectory
    let bench: CommandBench

    init() throws {
        directory = try TemporaryDirectory()
        bench = CommandBench(directory: directory.path)
    }

    @Test("what the commands change, the next request of the device meets")
    func commands() async throws {
        let server = try RunningServer(directory.path, "--http")
        try await withServer(server) { client in
            let device = try await client.device(token: server.token())
            let before = try await client.config(device)

            #expect(await bench.run("forward", "add", device.id, "tcp", "8080", "80").status == 0)
            let forwarded = try await client.config(device)
            #expect(forwarded.difference(from: before) == .forwards)
            let list = try await client.send(
                "GET", "/api/v1/forwards", query: "?device_id=\(device.id)", as: device)
            #expect(try ForwardsResponse(parsing: list.body).forwards.map(\.publicPort) == [8080])
            #expect(await bench.run("forward", "rm", "tcp", "8080").status == 0)
            #expect(try await client.config(device).difference(from: before) == .none)

            #expect(await bench.run("rotate-keys", device.id).status == 0)
            let rotated = try await client.config(device)
            #expect(rotated.difference(from: before) == .identity)
            #expect(rotated.addresses == before.addresses)
            let shown = try await bench.object("device", "show", device.id)
            let keys = try #require(shown["keys"] as? [[String: Any]])
            #expect(keys.map { $0["state"] as? String } == ["current", "delivered"])
            #expect(keys.last?["public_key"] as? String == rotated.privateKey.publicKey.base64)
            #expect(shown["status"] as? String == "connected")
            #expect(shown["tunnel_up"] as? Bool == true)
            #expect(shown["last_address"] as? String == "127.0.0.1")

            #expect(await bench.run("device", "revoke", device.id).status == 0)
            #expect(try await client.heartbeat(device).status == 410)
            #expect(try await client.provision(token: device.token).status == 401)
        }
    }

    @Test("a token that is taken back while the server runs is refused from then on")
    func tokenRevoked() async throws {
        let server = try RunningServer(directory.path, "--http")
        try await withServer(server) { client in
            let token = try await server.token()
            #expect(await bench.run("token", "revoke", RegistrationToken.identifier(of: token)).status == 0)
            #expect(try await client.provision(token: token).status == 401)
        }
    }

    @Test("a client sees each fault for what it is")
    func faults() async throws {
        let server = try RunningServer(directory.path, "--fault-file", directory.file("faults"))
        try await withServer(server) { client in
            let device = try await client.device(token: server.token())
            func fault(_ text: String) throws { try directory.write(Array(text.utf8), to: "faults") }
            func failure(_ client: WireClient) async -> HTTPError? {
                await #expect(throws: HTTPError.self) { try await client.heartbeat(device) }
            }

            try fault("drop")
            let dropped = await failure(client)
            switch dropped {
            case .truncated, .connect, .other: break
            default: Issue.record("a dropped request: \(String(describing: dropped))")
            }
            try fault("truncate")
            #expect(await failure(client) == .truncated)
            try fault("oversize=70000")
            #expect(await failure(client) == .tooLarge)
            try fault("delay=10s")
            var hurried = client
            hurried.options.totalTimeout = .milliseconds(500)
            #expect(await failure(hurried) == .timedOut)

            try fault("status=503\nretry-after=120")
            let busy = try await client.heartbeat(device)
            #expect(busy.status == 503)
            #expect(busy.header("Retry-After") == "120")
            try fault("redirect=https://elsewhere.example/")
            let redirect = try await client.heartbeat(device)
            #expect(redirect.status == 302)
            #expect(redirect.header("Location") == "https://elsewhere.example/")
            try fault("html")
            let page = try await client.heartbeat(device)
            #expect(page.status == 200)
            #expect(page.header("Content-Type")?.hasPrefix("text/html") == true)
            for text in ["garbage", "wrong-tag", "wrong-key", "bad-field=endpoint"] {
                try fault(text)
                let response = try await client.heartbeat(device)
                #expect(response.status == 200)
                #expect(throws: AgentError.self, "\(text)") {
                    try HeartbeatResponse(parsing: response.body, key: device.key, requiresEncryption: true)
                }
            }
            try fault("rotate-every=1")
            #expect(try await client.config(device).difference(from: device.config) == .identity)
            try fault("")
            #expect(try await client.heartbeat(device).status == 200)
        }
    }

    @Test("a request for an identity that is cut at any point ends in one identity when it is repeated")
    func cuts() async throws {
        let server = try RunningServer(
            directory.path, "--http", "--fault", "drop@provision*1", "--fault", "drop-after@provision*2",
            "--fault", "truncate@provision*3")
        try await withServer(server) { client in
            let token = try await server.token()
            for _ in 0..<3 {
                await #expect(throws: HTTPError.self) { try await client.provision(token: token) }
            }
            let device = try await client.device(token: token)
            let list = try await bench.object("device", "list")
            let devices = try #require(list["devices"] as? [[String: Any]])
            #expect(devices.map { $0["id"] as? String } == [device.id])
        }
    }
}
