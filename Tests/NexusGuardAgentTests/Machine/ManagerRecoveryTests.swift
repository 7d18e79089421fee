// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import FoundationEssentials
import NexusGuard
import Synchronization
import Testing

@testable import NexusGuardAgent

@Suite("the agent when things go wrong")
struct ManagerRecoveryTests {
    /// A bench whose agent is connected.
    static func connected() async throws -> ManagerBench {
        let bench = try ManagerBench()
        try await bench.connect()
        return bench
    }

    static let faults: [(String, @Sendable (HTTPRequest) throws(HTTPError) -> HTTPResponse)] = [
        ("heartbeat-failed", { _ throws(HTTPError) in throw .timedOut }),
        ("heartbeat-failed", { _ throws(HTTPError) in throw .truncated }),
        ("heartbeat-failed", { _ throws(HTTPError) in throw .tooLarge }),
        ("heartbeat-failed", { _ throws(HTTPError) in throw .connect("refused") }),
        ("tls", { _ throws(HTTPError) in throw .tls("expired") }),
        ("server-rejected", { _ throws(HTTPError) in HTTPResponse(status: 500) }),
        ("server-rejected", { _ throws(HTTPError) in HTTPResponse(status: 302) }),
        ("rate-limited", { _ throws(HTTPError) in HTTPResponse(status: 429) }),
        ("unauthorized", { _ throws(HTTPError) in HTTPResponse(status: 401) }),
        ("captive-portal", { _ throws(HTTPError) in HTTPResponse(status: 200, body: Array("<html>".utf8)) }),
        ("config-invalid", { _ throws(HTTPError) in HTTPResponse(status: 200, body: [1, 2, 3]) }),
        (
            "config-invalid",
            { _ throws(HTTPError) in
                HTTPResponse(status: 200, body: DeviceSample.sealed(DeviceSample.document(endpoint: "?")))
            }
        ),
        (
            "decryption-failed",
            { _ throws(HTTPError) in
                HTTPResponse(status: 200, body: DeviceSample.provisioned(DeviceSample.document()))
            }
        ),
        (
            "identity-mismatch",
            { _ throws(HTTPError) in
                HTTPResponse(status: 200, body: DeviceSample.sealed(DeviceSample.document(device: "another")))
            }
        ),
    ]

    @Test("a bad answer leaves tunnel and store alone, is counted, logged and shown", arguments: 0..<14)
    func fault(index: Int) async throws {
        let (code, fault) = Self.faults[index]
        let bench = try await Self.connected()
        let calls = bench.tunnel.calls
        bench.transport.answer { request throws(HTTPError) in try fault(request) }
        let snapshot = try await bench.run { ($0.counters.failures[code] ?? 0) >= 3 }
        #expect(snapshot.state == .connected)
        #expect(snapshot.health.contains { $0.code == code })
        #expect(bench.log.lines.filter { $0.contains("[\(code)]") }.count <= 1 + 2 * 3)
        #expect(bench.log.lines.contains { $0.contains("[\(code)]") })
        #expect(bench.tunnel.calls.filter { $0 != .refresh } == calls.filter { $0 != .refresh })
        let stored = try bench.secrets.loadWireGuardConfig()
        let original = try WireGuardConfigCodec.parse(DeviceSample.document(), requiresStatus: true)
        #expect(stored.map { $0.difference(from: original) } == ConfigDifference.none)
        bench.serve()
        try await bench.run { $0.health.isEmpty }
        #expect(bench.transport.mostInFlight == 1)
    }

    @Test("a tunnel that cannot start is tried again, and heartbeats tell that it is down")
    func tunnelFails() async throws {
        let bench = try ManagerBench()
        try bench.store()
        bench.serve()
        bench.tunnel.failStarts(.tunnelInitFailed("no such device"))
        try await bench.manager.startAgent()
        let snapshot = try await bench.run { $0.state == .failed }
        #expect(snapshot.reason?.code == "tunnel-failed" && snapshot.nextRetry != nil)
        #expect(bench.tunnel.calls.count == 4)
        #expect(bench.transport.requests.last?.text.contains(#""tunnel_up":false"#) == true)
        bench.tunnel.failStarts(nil)
        try await bench.run { $0.state == .connected }
    }

    @Test("new keys of the server are used and stored when they bring a handshake")
    func rotation() async throws {
        let bench = try await Self.connected()
        bench.serve { DeviceSample.document(privateKey: DeviceSample.otherPrivateKey) }
        try await bench.run { $0.counters.rebuilds == 1 && $0.state == .connected }
        let key = try PrivateKey(hexadecimal: DeviceSample.otherPrivateKey)
        #expect(try bench.secrets.loadWireGuardConfig()?.privateKey.isEqual(to: key) == true)
        try await bench.run { $0.phase == .heartbeat }
        let calls = bench.tunnel.calls.filter { $0 != .refresh }
        #expect(calls == [.start("192.0.2.1:51820"), .apply("192.0.2.1:51820")])
    }

    @Test("new keys that bring no handshake are taken back, and the stored ones are the old ones")
    func rotationFails() async throws {
        let bench = try await Self.connected()
        let old = try PrivateKey(hexadecimal: DeviceSample.privateKey)
        bench.tunnel.answers { $0.privateKey.isEqual(to: old) }
        bench.serve { DeviceSample.document(privateKey: DeviceSample.otherPrivateKey) }
        let snapshot = try await bench.run { $0.counters.rollbacks == 1 && $0.state == .connected }
        #expect(snapshot.health.contains { $0.code == HealthCode.rolledBack })
        #expect(bench.tunnel.config?.privateKey.isEqual(to: old) == true)
        #expect(try bench.secrets.loadWireGuardConfig()?.privateKey.isEqual(to: old) == true)
        // A server that insists is not followed in each heartbeat.
        let heartbeats = snapshot.counters.heartbeatsAccepted
        try await bench.run { $0.counters.heartbeatsAccepted >= heartbeats + 1 }
        #expect(await bench.manager.snapshot.counters.rollbacks == 1)
        bench.serve()
        bench.tunnel.answers { _ in true }
    }

    @Test("another endpoint is applied in place, and stored")
    func endpoint() async throws {
        let bench = try await Self.connected()
        bench.serve { DeviceSample.document(endpoint: "198.51.100.7:4000") }
        try await bench.run { $0.counters.rebuilds == 1 }
        #expect(bench.tunnel.calls.filter { $0 != .refresh }.last == .apply("198.51.100.7:4000"))
        #expect(try bench.secrets.loadWireGuardConfig()?.endpoint == (try Endpoint("198.51.100.7:4000")))
        #expect(await bench.manager.snapshot.state == .connected)
    }

    @Test("a revocation without proof keeps all, one with proof clears all")
    func revocation() async throws {
        let bench = try await Self.connected()
        bench.transport.answer { _ throws(HTTPError) in HTTPResponse(status: 404, body: Array("{}".utf8)) }
        let snapshot = try await bench.run { $0.phase == .failed }
        #expect(snapshot.reason?.code == "revoked" && bench.tunnel.isTunnelUp())
        #expect(try bench.secrets.loadWireGuardConfig() != nil)
        let statement = #"{"device_id":"\#(DeviceSample.deviceID)","status":"revoked"}"#
        bench.transport.answer { _ throws(HTTPError) in
            HTTPResponse(status: 410, body: DeviceSample.sealed(Array(statement.utf8)))
        }
        try await bench.run { !$0.provisioned && $0.tunnel == nil }
        #expect(!bench.tunnel.isTunnelUp())
        #expect(try bench.secrets.loadWireGuardConfig() == nil)
        #expect(try bench.secrets.loadProvisioningKey() == nil)
        let count = bench.transport.requests.count
        try await bench.run(for: .seconds(7_200))
        #expect(bench.transport.requests.count == count)
    }

    @Test("offline is shown at once, nothing is sent meanwhile, and back online the server hears at once")
    func offline() async throws {
        let bench = try await Self.connected()
        bench.network.tell(.offline)
        try await bench.run { $0.phase == .offline }
        let count = bench.transport.requests.count
        try await bench.run(for: .seconds(90))
        #expect(bench.transport.requests.count == count)
        bench.network.tell(.online)
        try await bench.run(within: .seconds(1)) { $0.state == .connected }
        try await bench.run(within: .seconds(1)) { _ in bench.transport.requests.count > count }
        #expect(bench.tunnel.calls.contains(.refresh))
    }

    @Test("an interface that somebody removed comes back")
    func lost() async throws {
        let bench = try await Self.connected()
        bench.tunnel.lose()
        try await bench.run { _ in bench.tunnel.calls.count { $0 == .start("192.0.2.1:51820") } == 2 }
        try await bench.run { $0.state == .connected }
    }

    @Test("also while a server says without proof that the device is revoked")
    func lostWhileRevoked() async throws {
        let bench = try await Self.connected()
        bench.transport.answer { _ throws(HTTPError) in HTTPResponse(status: 404, body: Array("{}".utf8)) }
        try await bench.run { $0.phase == .failed }
        let good = try bench.secrets.loadWireGuardConfig()
        bench.tunnel.lose()
        try await bench.run(within: .seconds(60)) { _ in
            bench.tunnel.calls.count { $0 == .start("192.0.2.1:51820") } == 2
        }
        try await bench.run { $0.tunnel != nil && $0.health.contains { $0.code == "revoked" } }
        #expect(bench.tunnel.config?.difference(from: try #require(good)) == ConfigDifference.none)
        bench.serve()
        try await bench.run { $0.state == .connected && $0.health.isEmpty }
    }

    @Test("a tunnel without keepalives that nobody uses stays connected")
    func quiet() async throws {
        let bench = try ManagerBench()
        let document = DeviceSample.document(more: #", "keepalive": 0"#)
        try bench.store(document)
        bench.serve { document }
        try await bench.manager.startAgent()
        try await bench.run { $0.lastHeartbeat != nil }
        bench.tunnel.answers { _ in false }
        // Each half a minute: the handshake is a quarter of an hour old by then.
        try await bench.run { snapshot in
            #expect(snapshot.state == .connected && snapshot.health.isEmpty)
            return snapshot.counters.heartbeatsAccepted >= 30
        }
        #expect(!bench.tunnel.calls.contains(.refresh))
        // The first packet that somebody sends and nobody answers shows that the server is away.
        bench.tunnel.send(148)
        try await bench.run(within: .seconds(60)) { $0.health.contains { $0.code == "handshake-stale" } }
        bench.tunnel.answers { _ in true }
        try await bench.run(within: .seconds(60)) { $0.state == .connected && $0.health.isEmpty }
    }

    @Test("a wall clock that jumps makes no handshake old or young")
    func wallClock() async throws {
        let bench = try await Self.connected()
        for jump in [-86_400.0, 172_800, -86_400] {
            bench.clock.jumpWallTime(by: jump)
            try await bench.run(for: .seconds(120))
            #expect(await bench.manager.snapshot.state == .connected)
        }
    }

    @Test("forwards come with a heartbeat or from their own address, and are fetched once")
    func forwards() async throws {
        let bench = try await Self.connected()
        let list =
            #"{"forwards_hash":"f1","forwards":[{"protocol":"udp","public_port":53,"#
            + #""target_ip":"10.172.21.2","target_port":5353}]}"#
        let fetches = Mutex(0)
        bench.transport.answer { request throws(HTTPError) in
            if request.url.contains("/forwards") {
                fetches.withLock { $0 += 1 }
                return HTTPResponse(status: 200, body: Array(list.utf8))
            }
            let document = DeviceSample.document(more: #", "forwards_hash": "f1""#)
            return HTTPResponse(status: 200, body: DeviceSample.sealed(document))
        }
        let snapshot = try await bench.run { $0.forwardCount == 1 }
        #expect(snapshot.forwards?.first?.publicPort == 53)
        let accepted = snapshot.counters.heartbeatsAccepted
        try await bench.run { $0.counters.heartbeatsAccepted >= accepted + 3 }
        #expect(fetches.withLock { $0 } == 1)
        #expect(try bench.secrets.loadWireGuardConfig()?.forwards?.count == 1)
        #expect(bench.tunnel.calls.filter { $0 != .refresh }.count == 1)
    }

    @Test("neither log nor snapshot holds a token, a key or a whole device id, whatever happens")
    func secrecy() async throws {
        let bench = try ManagerBench()
        try bench.secrets.savePendingToken(DeviceSample.token)
        bench.serve()
        try await bench.manager.startAgent()
        try await bench.run { $0.lastHeartbeat != nil }
        for (_, fault) in Self.faults {
            bench.transport.answer { request throws(HTTPError) in try fault(request) }
            let failures = await bench.manager.snapshot.counters.failures.values.reduce(0, +)
            try await bench.run { $0.counters.failures.values.reduce(0, +) > failures }
        }
        bench.serve { DeviceSample.document(privateKey: DeviceSample.otherPrivateKey) }
        try await bench.run { $0.counters.rebuilds >= 1 }
        let snapshot = String(decoding: await bench.manager.snapshot.json(), as: UTF8.self)
        let text = bench.log.lines.joined(separator: "\n") + snapshot
        for secret in [
            DeviceSample.token, DeviceSample.deviceID, DeviceSample.hwid, DeviceSample.privateKey,
            DeviceSample.otherPrivateKey, DeviceSample.presharedKey,
        ] {
            #expect(!text.contains(secret) && !text.contains(secret.prefix(12)))
        }
        #expect(bench.log.lines.count > 10)
    }
}
