// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import AgentStore
import Foundation
import NexusGuard
import Testing

@testable import NexusGuardAgent

@Suite("what the administrator changes while the agent runs")
struct ReloadTests {
    /// The settings of the benches, with a change.
    private func administrator(
        _ change: (inout AdministratorSettings) -> Void = { _ in }
    ) -> AdministratorSettings {
        var settings = AdministratorSettings()
        settings.hwid = DeviceSample.hwid
        change(&settings)
        return settings
    }

    private func connected(_ change: (inout AgentConfig) -> Void = { _ in }) async throws -> ManagerBench {
        let bench = try ManagerBench(change)
        try await bench.connect()
        return bench
    }

    @Test("another server is spoken to at once, over the same tunnel")
    func server() async throws {
        let bench = try await connected()
        let calls = bench.tunnel.calls
        await bench.manager.reload(administrator: administrator { $0.serverURL = "https://b.example.net" })
        try await bench.run(within: .seconds(30)) { _ in
            bench.transport.requests.last?.url == "https://b.example.net/api/v1/heartbeat"
        }
        #expect(await bench.manager.settings.serverURL == "https://b.example.net")
        #expect(try bench.settings.loadConfig()?.serverURL == "https://control.example.net")
        #expect(bench.tunnel.calls.filter { $0 != .refresh } == calls.filter { $0 != .refresh })
        // What is fixed no user changes; what is no longer fixed is the user's again.
        var wanted = await bench.manager.settings
        wanted.serverURL = "https://c.example.net"
        let refused = wanted
        await #expect(throws: AgentError.self) { try await bench.manager.update(settings: refused) }
        await bench.manager.reload(administrator: administrator())
        #expect(await bench.manager.settings.serverURL == "https://control.example.net")
    }

    @Test("what the server says of another server's device does not count")
    func abandoned() async throws {
        let bench = try await connected()
        bench.transport.answer { _ throws(HTTPError) in HTTPResponse(status: 401, body: Array("{}".utf8)) }
        try await bench.run { $0.health.contains { $0.code == "unauthorized" } }
        bench.serve()
        await bench.manager.reload(administrator: administrator { $0.serverURL = "https://b.example.net" })
        try await bench.run(within: .seconds(60)) { $0.health.isEmpty && $0.state == .connected }
    }

    @Test("a token that the administrator gives later is used")
    func token() async throws {
        let bench = try ManagerBench()
        bench.serve()
        try await bench.manager.startAgent()
        try await bench.run { $0.phase == .failed }
        let path = bench.path + "/token"
        try Data(DeviceSample.token.utf8).write(to: URL(fileURLWithPath: path))
        await bench.manager.reload(administrator: administrator { $0.tokenFile = path })
        try await bench.driving { try await $0.provision(token: nil) }.get()
        try await bench.run { $0.state == .connected }
        #expect(bench.transport.requests.first?.text.contains(DeviceSample.token) == true)
    }

    @Test("what counts from the next start on is said so, and only when it has changed")
    func nextStart() async throws {
        let bench = try await connected()
        func lines(_ field: String) -> Int {
            let line = "[WARN] settings: \(field): counts from the next start of the agent on"
            return bench.log.lines.filter { $0 == line }.count
        }
        await bench.manager.reload(administrator: administrator())
        #expect(["interface", "hwid", "host_key_file"].allSatisfy { lines($0) == 0 })
        let changed = administrator {
            $0.interfaceName = "ng7"
            $0.hwid = String(repeating: "1", count: 32)
            $0.hostKeyFile = "/etc/nexusguard/key"
        }
        await bench.manager.reload(administrator: changed)
        #expect(["interface", "hwid", "host_key_file"].allSatisfy { lines($0) == 1 })
        await bench.manager.reload(administrator: changed)
        #expect(["interface", "hwid", "host_key_file"].allSatisfy { lines($0) == 1 })
        #expect(try await bench.manager.hwid == DeviceSample.hwid)
        #expect(await bench.manager.snapshot.state == .connected)
        var wanted = await bench.manager.settings
        wanted.interfaceName = "ng8"
        let fixed = wanted
        await #expect(throws: AgentError.self) { try await bench.manager.update(settings: fixed) }
        await bench.manager.reload(administrator: administrator())
        #expect(lines("interface") == 2)
        try await bench.manager.update(settings: wanted)
        #expect(lines("interface") == 3)
    }

    /// Finds each name at the same addresses.
    private struct FixedLookup: ControlLookup {
        let found: [IPAddress]

        func addresses(of name: String) async -> [IPAddress] { found }
    }

    @Test("the network counts as there while the control server or the tunnel's has a route")
    func destinations() async throws {
        let tunnel = try IPAddress("192.0.2.1")
        let named = try ManagerBench(lookup: FixedLookup(found: [try IPAddress("198.51.100.8")]))
        let numeric = try ManagerBench { $0.serverURL = "https://198.51.100.7:8443" }
        for (bench, control) in [(named, "198.51.100.8"), (numeric, "198.51.100.7")] {
            try await bench.connect()
            #expect(try bench.network.destinations == [IPAddress(control), tunnel])
        }
        // A server of the tunnel that has only a name may be behind any network.
        let anywhere = try ManagerBench { $0.serverURL = "https://198.51.100.7:8443" }
        try anywhere.store(DeviceSample.document(endpoint: "vpn.example.net:51820"))
        anywhere.serve { DeviceSample.document(endpoint: "vpn.example.net:51820") }
        try await anywhere.manager.startAgent()
        try await anywhere.run { $0.lastHeartbeat != nil }
        #expect(anywhere.network.destinations == [])
    }
}
