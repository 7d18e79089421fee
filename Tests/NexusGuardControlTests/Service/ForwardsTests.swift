// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Forwards, deprovisioning and health")
struct ForwardsTests {
    private func add(
        _ bench: Bench, _ device: TestDevice, port: UInt16, _ transport: PortForward.TransportProtocol = .tcp
    ) async throws {
        let forward = PortForward(
            transportProtocol: transport, publicPort: port, targetAddress: try IPAddress("10.172.21.2"),
            targetPort: 80)
        let record = ForwardRecord(deviceID: device.id, forward: forward, createdAt: bench.clock.now)
        #expect(try await bench.store.addForward(record) == nil)
    }

    @Test("the list comes with its hash as entity tag, and not again while it is the same")
    func list() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let other = try await bench.device(hwid: "hwid-2")
        try await add(bench, device, port: 8080)
        try await add(bench, device, port: 53, .udp)
        try await add(bench, other, port: 9090)
        let response = try await bench.forwards(device)
        #expect(response.status == 200)
        let object = try response.object
        let hash = try #require(object["forwards_hash"] as? String)
        #expect(response.header("ETag") == "\"\(hash)\"")
        let list = try #require(object["forwards"] as? [[String: Any]])
        #expect(list.map { $0["protocol"] as? String } == ["tcp", "udp"])
        #expect(list.map { $0["public_port"] as? Int } == [8080, 53])
        #expect(list.map { $0["target_ip"] as? String } == ["10.172.21.2", "10.172.21.2"])
        #expect(list.map { $0["target_port"] as? Int } == [80, 80])
        let heartbeat = try await HeartbeatResponse(parsing: bench.heartbeat(device).response.body)
        #expect(heartbeat.config.forwardsHash == hash)

        for value in ["\"\(hash)\"", "W/\"\(hash)\"", "\"x\" , \"\(hash)\"", "*"] {
            let again = try await bench.forwards(device, headers: [(name: "If-None-Match", value: value)])
            #expect(again.status == 304, "\(value)")
            #expect(again.body.isEmpty)
            #expect(again.header("ETag") == "\"\(hash)\"")
        }
        for value in ["\"x\"", hash, ""] {
            let again = try await bench.forwards(device, headers: [(name: "If-None-Match", value: value)])
            #expect(again.status == 200, "\(value)")
        }
        try await add(bench, device, port: 8443)
        let stale = [(name: "If-None-Match", value: "\"\(hash)\"")]
        #expect(try await bench.forwards(device, headers: stale).status == 200)
        #expect(try await bench.store.removeForward(.tcp, publicPort: 8443))
        #expect(try await bench.forwards(device, headers: stale).status == 304)
    }

    @Test("heartbeats carry the list where that is set")
    func inline() async throws {
        let bench = try Bench { $0.sendsForwards = true }
        let device = try await bench.device()
        #expect(device.config.forwards == [])
        try await add(bench, device, port: 8080)
        let config = try await HeartbeatResponse(parsing: bench.heartbeat(device).response.body).config
        #expect(config.forwards?.map(\.publicPort) == [8080])
        #expect(config.difference(from: device.config) == .forwards)
    }

    @Test("the device must be named once")
    func query() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let name = "device_id"
        for query in [
            [], [(name: name, value: "")], [(name: name, value: device.id), (name: name, value: device.id)],
            [(name: name, value: String(repeating: "x", count: 129))],
        ] {
            let response = try await bench.send("GET", "/api/v1/forwards", as: device, query: query).response
            #expect(response.status == 400)
        }
        let unknown = [(name: name, value: "nobody")]
        #expect(try await bench.send("GET", "/api/v1/forwards", query: unknown).response.status == 404)
    }

    @Test("a device that gave its identity back is told so again, and is gone for all else")
    func deprovision() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        try await add(bench, device, port: 8080)
        let changes = bench.changeCount
        #expect(try await bench.deprovision(device).status == 204)
        #expect(bench.changeCount == changes + 1)
        #expect(try await bench.deprovision(device).status == 204)
        #expect(bench.changeCount == changes + 1)
        #expect(try await bench.heartbeat(device).response.status == 410)
        let record = try #require(await bench.store.device(device.id))
        #expect(record.revocation?.kind == .deprovisioned)
        #expect(record.keys.isEmpty)
        #expect(record.addresses.isEmpty)
        #expect(try await bench.store.forwards(of: nil).isEmpty)
    }

    @Test("a request to give nothing back makes no sense", arguments: ["", "{}", #"{"device_id":7}"#, "[]"])
    func malformedDeprovision(body: String) async throws {
        let bench = try Bench()
        let response = try await bench.send("POST", "/api/v1/deprovision", body: body).response
        #expect(response.status == 400)
        #expect(response.errorCode == "malformed")
    }

    @Test("health is 204 without content, for everybody")
    func health() async throws {
        let bench = try Bench(faults: ["status=503"])
        for method in ["GET", "HEAD"] {
            let response = try await bench.send(method, "/healthz").response
            #expect(response.status == 204)
            #expect(response.body.isEmpty)
        }
        #expect(try await bench.send("POST", "/healthz").response.status == 405)
    }

    @Test(
        "other methods are 405 with the right one named, other paths 404",
        arguments: [
            ("GET", "/api/v1/provision", 405, "POST"), ("PUT", "/api/v1/heartbeat", 405, "POST"),
            ("POST", "/api/v1/forwards", 405, "GET"), ("GET", "/api/v1/deprovision", 405, "POST"),
            ("GET", "/", 404, ""), ("POST", "/api/v1/provision/", 404, ""),
            ("GET", "/api/v2/forwards", 404, ""),
            ("GET", "/healthz/", 404, ""), ("OPTIONS", "*", 404, ""),
        ])
    func routes(method: String, path: String, status: Int, allowed: String) async throws {
        let response = try await Bench().send(method, path).response
        #expect(response.status == status)
        #expect(response.header("Allow") == (allowed.isEmpty ? nil : allowed))
        #expect(response.errorCode == (status == 404 ? "not-found" : "wrong-method"))
    }

    @Test("neither the log nor an answer outside an envelope shows a secret or a whole device")
    func secrets() async throws {
        let bench = try Bench { $0.requiresEnvelope = true }
        let device = try await bench.device()
        let envelope = [(name: "X-NexusGuard-Envelope", value: "aes-256-gcm")]
        _ = await bench.heartbeat(device, headers: envelope)
        _ = await bench.heartbeat(device)
        _ = await bench.send("POST", "/api/v1/heartbeat", body: device.news())
        _ = try await bench.provision(token: device.token)
        _ = try await bench.provision(token: device.token, hwid: "hwid-2")
        _ = try await bench.deprovision(device)
        _ = await bench.heartbeat(device, headers: envelope)
        let key = device.key.withBytes { $0.withUnsafeBytes { Array($0) } }
        let secrets = [
            device.token, String(device.token.dropFirst(4)), device.id, device.config.privateKey.base64,
            device.config.presharedKey?.base64 ?? "none", Data(key).base64EncodedString(),
            key.map { String(format: "%02x", $0) }.joined(),
        ]
        #expect(bench.everything.count > 8)
        for text in bench.everything {
            for secret in secrets { #expect(!text.contains(secret)) }
        }
    }
}
