// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import FoundationEssentials
import NexusGuard
import Testing

@testable import NexusGuardAgent

@Suite("the agent from its first token on")
struct AgentManagerTests {
    @Test("a token leads to an identity, a tunnel and heartbeats, and is then forgotten")
    func firstToken() async throws {
        let bench = try ManagerBench()
        bench.serve()
        try await bench.manager.startAgent()
        try await bench.run { $0.phase == .failed }
        async let provisioned: Void = bench.manager.provision(token: DeviceSample.token)
        try await bench.run { $0.state == .connected && $0.lastHeartbeat != nil }
        try await provisioned
        let snapshot = await bench.manager.snapshot
        #expect(snapshot.provisioned && snapshot.deviceID == "d0a1…" && snapshot.hwid == "794f…")
        #expect(try bench.secrets.loadPendingToken() == nil)
        #expect(try bench.secrets.loadProvisioningKey()?.isEqual(to: DeviceSample.key) == true)
        #expect(try bench.secrets.loadWireGuardConfig()?.deviceID == DeviceSample.deviceID)
        #expect(try bench.settings.loadConfig()?.isProvisioned == true)
        #expect(bench.tunnel.calls.first == .start("192.0.2.1:51820"))
        #expect(bench.transport.mostInFlight == 1)
    }

    @Test("an agent that nobody holds any more leaves nothing behind that sleeps or listens")
    func abandoned() async throws {
        let bench = try ManagerBench()
        try await bench.connect()
        #expect(bench.clock.nextWakeUp != nil)
        #expect(bench.network.readingCount == 1)
        try bench.replaceManager()
        let patience = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < patience {
            if bench.clock.nextWakeUp == nil, bench.network.readingCount == 0 { break }
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(bench.clock.nextWakeUp == nil)
        #expect(bench.network.readingCount == 0)
    }

    @Test("a stored configuration is up before the server is asked anything")
    func storedFirst() async throws {
        let bench = try ManagerBench()
        try bench.store()
        bench.transport.answer { [tunnel = bench.tunnel] _ throws(HTTPError) in
            #expect(tunnel.isTunnelUp())
            throw .timedOut
        }
        try await bench.manager.startAgent()
        let snapshot = try await bench.run(within: .seconds(2)) { $0.state == .connected }
        #expect(snapshot.tunnel?.endpoint == "192.0.2.1:51820")
        #expect(snapshot.counters.provisionsSent == 0)
        try await bench.run { !bench.transport.requests.isEmpty && $0.counters.failures.count == 1 }
    }

    @Test(
        "a token whose answer gets lost leads to the same identity when it is sent again, and a kill changes nothing",
        arguments: [HTTPError.connect("refused"), .truncated, .timedOut])
    func lostAnswer(error: HTTPError) async throws {
        let bench = try ManagerBench()
        bench.transport.answer { _ throws(HTTPError) in throw error }
        try bench.secrets.savePendingToken(DeviceSample.token)
        try await bench.manager.startAgent()
        try await bench.run { $0.counters.provisionsSent == 2 }
        #expect(try bench.secrets.loadPendingToken() == DeviceSample.token)
        try bench.replaceManager()
        bench.serve()
        try await bench.manager.startAgent()
        try await bench.run { $0.state == .connected }
        let bodies = Set(bench.transport.requests.filter { $0.url.hasSuffix("/provision") }.map(\.text))
        #expect(bodies.count == 1, "the same token and hwid each time")
        #expect(try bench.secrets.loadPendingToken() == nil)
    }

    @Test("an agent that is killed between identity and token begins with the identity and asks for no other")
    func killedBeforeTokenIsErased() async throws {
        let bench = try ManagerBench()
        try bench.store()
        try bench.secrets.savePendingToken(DeviceSample.token)
        bench.serve()
        try await bench.manager.startAgent()
        try await bench.run { $0.lastHeartbeat != nil }
        #expect(!bench.transport.requests.contains { $0.url.hasSuffix("/provision") })
        #expect(try bench.secrets.loadPendingToken() == nil)
    }

    @Test("up and down are stored, and down returns when the tunnel is down")
    func upAndDown() async throws {
        let bench = try ManagerBench { $0.wantsUp = false }
        try bench.store()
        bench.serve()
        try await bench.manager.startAgent()
        #expect(await bench.manager.snapshot.phase == .stopped)
        #expect(bench.tunnel.calls == [])
        try await bench.manager.up()
        #expect(try bench.settings.loadConfig()?.wantsUp == true)
        try await bench.run { $0.state == .connected && $0.lastHeartbeat != nil }
        try await bench.manager.down()
        #expect(!bench.tunnel.isTunnelUp())
        #expect(try bench.settings.loadConfig()?.wantsUp == false)
        try await bench.run { _ in bench.transport.requests.last?.text.contains(#""tunnel_up":false"#) == true
        }
        let count = bench.transport.requests.count
        try await bench.run(for: .seconds(600))
        #expect(bench.transport.requests.count == count)
    }

    @Test("an agent that does not start by itself waits for the user")
    func autoStart() async throws {
        let bench = try ManagerBench { $0.startsAutomatically = false }
        try bench.store()
        try await bench.manager.startAgent()
        #expect(await bench.manager.snapshot.phase == .stopped)
        #expect(try bench.settings.loadConfig()?.wantsUp == true)
    }

    @Test("refresh gives what the server says")
    func refresh() async throws {
        let bench = try ManagerBench()
        try await bench.connect()
        let count = bench.transport.requests.count
        try await bench.driving { try await $0.refresh() }.get()
        #expect(bench.transport.requests.count > count)
        bench.transport.answer { _ throws(HTTPError) in HTTPResponse(status: 500) }
        #expect(try await bench.failure(of: { try await $0.refresh() }) == .serverRejected(500))
        bench.transport.answer { _ throws(HTTPError) in
            HTTPResponse(status: 429, headers: [(name: "Retry-After", value: "100")])
        }
        #expect(
            try await bench.failure(of: { try await $0.refresh() }) == .rateLimited(retryAfter: .seconds(100))
        )
        let held = bench.transport.requests.count
        #expect(try await bench.failure(of: { try await $0.refresh() })?.code == "rate-limited")
        #expect(bench.transport.requests.count == held)
    }

    @Test("provisioning tells why it failed, and goes on by itself")
    func provisionFails() async throws {
        let bench = try ManagerBench()
        try await bench.manager.startAgent()
        await #expect(throws: AgentError.notProvisioned) { try await bench.manager.provision(token: nil) }
        bench.transport.answer { _ throws(HTTPError) in HTTPResponse(status: 401, body: Array("{}".utf8)) }
        await #expect(throws: AgentError.unauthorized) {
            try await bench.manager.provision(token: "bad-token")
        }
        bench.transport.answer { _ throws(HTTPError) in throw .timedOut }
        await #expect(throws: AgentError.provisioningFailed("no answer in time")) {
            try await bench.manager.provision(token: DeviceSample.token)
        }
        bench.serve()
        try await bench.run { $0.state == .connected }
        await #expect(throws: AgentError.self) { try await bench.manager.provision(token: "another") }
    }

    @Test("a stopped agent gets an identity without bringing the tunnel up")
    func provisionWhileStopped() async throws {
        let bench = try ManagerBench { $0.wantsUp = false }
        bench.serve()
        try await bench.manager.startAgent()
        try await bench.manager.provision(token: DeviceSample.token)
        let snapshot = await bench.manager.snapshot
        #expect(snapshot.provisioned && snapshot.phase == .stopped && bench.tunnel.calls == [])
    }

    @Test("deprovision tells the server first, and keeps everything when that fails")
    func deprovision() async throws {
        let bench = try ManagerBench()
        try await bench.connect()
        bench.transport.answer { _ throws(HTTPError) in HTTPResponse(status: 500) }
        await #expect(throws: AgentError.serverRejected(500)) { try await bench.manager.deprovision() }
        #expect(try bench.secrets.loadWireGuardConfig() != nil && bench.tunnel.isTunnelUp())
        bench.serve()
        try await bench.manager.deprovision()
        #expect(try bench.secrets.loadWireGuardConfig() == nil)
        #expect(try bench.secrets.loadProvisioningKey() == nil)
        #expect(!bench.tunnel.isTunnelUp())
        #expect(await bench.manager.snapshot.phase == .stopped)
    }

    @Test("reset forgets everything without asking the server")
    func reset() async throws {
        let bench = try ManagerBench()
        try bench.store()
        try bench.secrets.savePendingToken("x")
        bench.transport.answer { _ throws(HTTPError) in throw .timedOut }
        try await bench.manager.startAgent()
        try await bench.run { $0.state == .connected }
        try await bench.manager.reset()
        #expect(try bench.secrets.loadWireGuardConfig() == nil)
        #expect(try bench.secrets.loadPendingToken() == nil)
        #expect(try bench.settings.loadConfig() == nil)
        #expect(!bench.tunnel.isTunnelUp())
        let snapshot = await bench.manager.snapshot
        #expect(snapshot.serverURL == nil && !snapshot.provisioned && snapshot.phase == .stopped)
    }

    @Test("snapshots come as they change, the newest first for a slow reader, and end with the agent")
    func snapshots() async throws {
        let bench = try ManagerBench()
        try bench.store()
        bench.serve()
        let stream = await bench.manager.snapshots
        let reader = Task { () -> [AgentState] in
            var states: [AgentState] = []
            for await snapshot in stream where states.last != snapshot.state { states.append(snapshot.state) }
            return states
        }
        try await bench.manager.startAgent()
        try await bench.run { $0.state == .connected }
        await bench.manager.stopAgent()
        let states = await reader.value
        #expect(states.last == .disconnected)
        #expect(!bench.tunnel.isTunnelUp())
        #expect(try bench.settings.loadConfig()?.wantsUp == true)
        for await snapshot in await bench.manager.snapshots { #expect(snapshot.phase == .stopped) }
    }

    @Test("settings are checked, stored and used at once")
    func settings() async throws {
        let bench = try ManagerBench { $0.serverURL = nil }
        try bench.secrets.savePendingToken(DeviceSample.token)
        bench.serve()
        try await bench.manager.startAgent()
        try await bench.run { $0.phase == .failed }
        var settings = await bench.manager.settings
        settings.serverURL = "ftp://nowhere"
        let wrong = settings
        await #expect(throws: AgentError.self) { try await bench.manager.update(settings: wrong) }
        settings.serverURL = "https://other.example.net"
        try await bench.manager.update(settings: settings)
        try await bench.run { $0.state == .connected }
        #expect(bench.transport.requests.first?.url == "https://other.example.net/api/v1/provision")
        #expect(try bench.settings.loadConfig()?.serverURL == "https://other.example.net")
    }

    @Test("what the user supplies runs, with and without a tunnel before it")
    func imported() async throws {
        let bench = try ManagerBench { $0.serverURL = nil }
        try await bench.manager.startAgent()
        let first = try WireGuardConfigCodec.parse(DeviceSample.document(), requiresStatus: true)
        try await bench.manager.rebuildTunnel(with: first)
        try await bench.run { $0.state == .connected }
        #expect(try bench.secrets.loadWireGuardConfig()?.deviceID == DeviceSample.deviceID)
        let second = try WireGuardConfigCodec.parse(
            DeviceSample.document(endpoint: "192.0.2.9:51820"), requiresStatus: true)
        try await bench.manager.rebuildTunnel(with: second)
        #expect(bench.tunnel.calls.suffix(1) == [.apply("192.0.2.9:51820")])
        #expect(try bench.secrets.loadWireGuardConfig()?.endpoint == second.endpoint)
        bench.tunnel.failChanges(.tunnelInitFailed("refused"))
        await #expect(throws: AgentError.tunnelInitFailed("refused")) {
            try await bench.manager.rebuildTunnel(with: first)
        }
        #expect(try bench.secrets.loadWireGuardConfig()?.endpoint == second.endpoint)
    }
}
