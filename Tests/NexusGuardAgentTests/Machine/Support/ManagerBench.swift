// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import AgentStore
import Foundation
import Synchronization
import Testing

@testable import NexusGuardAgent

/// An agent with real stores in a directory of its own, and everything else under a test's control.
final class ManagerBench: Sendable {
    let clock = ManualClock()
    let tunnel: FakeTunnel
    let network = FakeNetwork()
    let log = RecordingLog()
    let transport = ScriptedTransport()
    let directory: StateDirectory
    let settings: SettingsStore
    let secrets: SecretStore
    let path: String
    private let lookup: (any ControlLookup)?
    private let current: Mutex<AgentManager>

    /// The agent; after a kill another one.
    var manager: AgentManager { current.withLock { $0 } }

    /// Makes an agent for which a server is set.
    init(lookup: (any ControlLookup)? = nil, _ change: (inout AgentConfig) -> Void = { _ in }) throws {
        self.lookup = lookup
        let template = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(
            at: template, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        path = template.path
        tunnel = FakeTunnel(clock: clock)
        directory = try StateDirectory(path: path + "/state")
        settings = SettingsStore(directory: directory)
        secrets = SecretStore(directory: directory)
        var config = AgentConfig()
        config.serverURL = "https://control.example.net"
        config.wantsUp = true
        change(&config)
        try settings.saveConfig(config)
        current = Mutex(
            Self.makeManager(directory, settings, secrets, tunnel, network, log, transport, clock, lookup))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Begins anew with what is stored, as after a kill.
    func replaceManager() throws {
        tunnel.lose()
        let directory = try StateDirectory(path: path + "/state")
        let next = Self.makeManager(
            directory, SettingsStore(directory: directory), SecretStore(directory: directory), tunnel,
            network, log, transport, clock, lookup)
        current.withLock { $0 = next }
    }

    private static func makeManager(
        _ directory: StateDirectory, _ settings: SettingsStore, _ secrets: SecretStore, _ tunnel: FakeTunnel,
        _ network: FakeNetwork, _ log: RecordingLog, _ transport: ScriptedTransport, _ clock: ManualClock,
        _ lookup: (any ControlLookup)?
    ) -> AgentManager {
        var administrator = AdministratorSettings()
        administrator.hwid = DeviceSample.hwid
        var parts = AgentManager.Parts(
            directory: directory, settings: settings, secrets: secrets, administrator: administrator,
            tunnel: tunnel, network: network, log: log, transport: transport)
        parts.clock = clock
        parts.lookup = lookup
        parts.socketMark = nil
        return AgentManager(parts)
    }

    /// Stores an identity as an earlier run would have.
    func store(_ document: [UInt8] = DeviceSample.document()) throws {
        try secrets.saveWireGuardConfig(WireGuardConfigCodec.parse(document, requiresStatus: true))
        try secrets.saveProvisioningKey(DeviceSample.key)
    }

    /// Lets the server behave as the interface says, with this configuration for the device.
    func serve(_ document: @escaping @Sendable () -> [UInt8] = { DeviceSample.document() }) {
        transport.answer { request throws(HTTPError) in
            switch true {
            case request.url.hasSuffix("/provision"):
                HTTPResponse(status: 200, body: DeviceSample.provisioned(document()))
            case request.url.hasSuffix("/heartbeat"):
                HTTPResponse(status: 200, body: DeviceSample.sealed(document()))
            case request.url.hasSuffix("/deprovision"): HTTPResponse(status: 204)
            default: HTTPResponse(status: 404, body: Array("{}".utf8))
            }
        }
    }

    /// Lets virtual time go on until the snapshot is as wanted.
    ///
    /// Time goes only while nothing is under way, so that a slow machine changes nothing.
    @discardableResult
    func run(
        within limit: Duration = .seconds(7_200), sourceLocation: SourceLocation = #_sourceLocation,
        until isDone: (AgentSnapshot) -> Bool
    ) async throws -> AgentSnapshot {
        let end = clock.now + limit
        let patience = ContinuousClock.now + .seconds(600)
        while ContinuousClock.now < patience {
            let snapshot = await manager.snapshot
            if isDone(snapshot) { return snapshot }
            guard await isIdle else {
                try await Task.sleep(for: .microseconds(200))
                continue
            }
            if let next = clock.nextWakeUp, next <= end {
                clock.advance(to: next)
            } else {
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        let last = await manager.snapshot
        Issue.record(
            "not reached: \(String(decoding: last.json(), as: UTF8.self))", sourceLocation: sourceLocation)
        return last
    }

    /// Starts the agent with a stored configuration and a server that answers, and waits for its first heartbeat.
    func connect() async throws {
        try store()
        serve()
        try await manager.startAgent()
        try await run { $0.state == .connected && $0.lastHeartbeat != nil }
    }

    /// Lets virtual time go on until a command has its result.
    func driving(
        _ command: @escaping @Sendable (AgentManager) async throws -> Void
    ) async throws -> Result<Void, AgentError> {
        let result = Mutex<Result<Void, AgentError>?>(nil)
        let task = Task { [manager] in
            let outcome: Result<Void, AgentError>
            do {
                try await command(manager)
                outcome = .success(())
            } catch {
                outcome = .failure(error as? AgentError ?? .heartbeatFailed("\(error)"))
            }
            result.withLock { $0 = outcome }
        }
        defer { task.cancel() }
        try await run { _ in result.withLock { $0 != nil } }
        return result.withLock { $0 } ?? .failure(.heartbeatFailed("no result"))
    }

    /// How a command fails; `nil` when it does not.
    func failure(
        of command: @escaping @Sendable (AgentManager) async throws -> Void
    ) async throws -> AgentError? {
        if case .failure(let error) = try await driving(command) { return error }
        return nil
    }

    /// Lets so much virtual time go by.
    func run(for duration: Duration) async throws {
        let end = clock.now + duration
        let patience = ContinuousClock.now + .seconds(600)
        while true {
            try #require(ContinuousClock.now < patience, "the agent comes to rest")
            guard await isIdle else {
                try await Task.sleep(for: .microseconds(200))
                continue
            }
            guard let next = clock.nextWakeUp, next <= end else { break }
            clock.advance(to: next)
        }
        clock.advance(to: end)
    }

    /// Whether nothing is under way: those who were woken have had their turn, and the agent waits for time to go on.
    private var isIdle: Bool {
        get async {
            guard clock.isQuiet, await manager.isIdle else { return false }
            return await manager.state.nextDeadline.map { clock.isAwaited($0) } ?? true
        }
    }
}

extension AgentManager {
    /// Whether nothing is under way that reports back by itself.
    var isIdle: Bool {
        state.request == nil && state.tunnelWork == nil && !state.isAdopting && !isRefreshing
    }
}
