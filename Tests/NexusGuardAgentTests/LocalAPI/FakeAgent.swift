// SPDX-License-Identifier: MIT

import AgentCore
import FoundationEssentials
import NexusGuard
import NexusGuardAgent

/// An agent that notes what is asked of it and answers as the test says.
actor FakeAgent: AgentControl {
    /// The full name of its device, which must never be shown.
    static let deviceID = "device-0001-abcdef"
    /// The identifier of its host, which only operators may see.
    static let hardware = "0123456789abcdef0123456789abcdef"
    /// Its private key, a pattern.
    static let privateKey = String(repeating: "00112233445566778899aabbccddeeff", count: 2)
    /// Its preshared key, a pattern.
    static let presharedKey = String(repeating: "ffeeddccbbaa99887766554433221100", count: 2)

    /// What was asked, in order.
    private(set) var calls: [String] = []
    private var failure: AgentError?
    private var current: AgentSnapshot
    private var readers: [UUID: AsyncStream<AgentSnapshot>.Continuation] = [:]
    private(set) var settings = AgentConfig()
    private(set) var wireGuardConfig: WireGuardConfig?

    init(isProvisioned: Bool = true) throws {
        current = AgentSnapshot(state: .disconnected, phase: .stopped)
        settings.serverURL = "https://control.example.net"
        current.serverURL = settings.serverURL
        current.hwid = DeviceIDMask.mask(Self.hardware)
        guard isProvisioned else { return }
        wireGuardConfig = try Self.config()
        settings.isProvisioned = true
        current.provisioned = true
        current.deviceID = DeviceIDMask.mask(Self.deviceID)
    }

    static func config() throws -> WireGuardConfig {
        WireGuardConfig(
            deviceID: deviceID, privateKey: try PrivateKey(hexadecimal: privateKey),
            presharedKey: try PresharedKey(hexadecimal: presharedKey),
            addresses: [try InterfaceAddress("10.172.21.2/32")],
            serverPublicKey: try PublicKey(base64: "HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw="),
            endpoint: try Endpoint("127.0.0.1:51820"), nameServers: [try IPAddress("1.1.1.1")],
            allowedIPs: [try IPPrefix("10.172.21.0/24")])
    }

    var snapshot: AgentSnapshot { current }

    var snapshots: AsyncStream<AgentSnapshot> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AgentSnapshot.self, bufferingPolicy: .bufferingNewest(1))
        let identifier = UUID()
        readers[identifier] = continuation
        continuation.onTermination = { _ in Task { await self.forget(identifier) } }
        continuation.yield(current)
        return stream
    }

    /// How many streams are open.
    var readerCount: Int { readers.count }

    private func forget(_ identifier: UUID) { readers[identifier] = nil }

    /// Changes what is shown.
    func show(_ change: @Sendable (inout AgentSnapshot) -> Void) {
        change(&current)
        for reader in readers.values { reader.yield(current) }
    }

    /// Makes each later operation fail.
    func fail(_ error: AgentError?) { failure = error }

    private func note(_ call: String) throws(AgentError) {
        calls.append(call)
        if let failure { throw failure }
    }

    func up() async throws(AgentError) {
        try note("up")
        show { $0.wantsUp = true }
        if wireGuardConfig == nil {
            show {
                $0.state = .failed
                $0.reason = HealthItem(code: "not-provisioned", text: "a token is needed")
            }
        } else {
            show {
                $0.state = .connecting
                $0.phase = .tunnelUp
            }
        }
    }

    func down() async throws(AgentError) {
        try note("down")
        show { snapshot in
            snapshot.wantsUp = false
            snapshot.state = .disconnected
            snapshot.phase = .stopped
        }
    }

    func restart() async throws(AgentError) { try note("restart") }

    func refresh() async throws(AgentError) { try note("refresh") }

    func provision(token: String?) async throws(AgentError) {
        try note("provision \(token ?? "(stored)")")
        show { $0.provisioned = true }
    }

    func deprovision() async throws(AgentError) {
        try note("deprovision")
        wireGuardConfig = nil
        show { $0.provisioned = false }
    }

    func reset() async throws(AgentError) { try note("reset") }

    func update(settings: AgentConfig) async throws(AgentError) {
        try note("update")
        self.settings = settings
        show { $0.serverURL = settings.serverURL }
    }

    func rebuildTunnel(with config: WireGuardConfig) async throws(AgentError) {
        try note("rebuild")
        wireGuardConfig = config
    }

    var hwid: String { get async throws(AgentError) { Self.hardware } }
}
