// SPDX-License-Identifier: MIT

import AgentCore
import AgentHost
import NexusGuard
import Synchronization

/// A configuration with made-up keys.
func sampleConfig(
    addresses: [String] = ["10.172.21.2/32"], allowedIPs: [String] = ["0.0.0.0/0"],
    endpoint: String = "192.0.2.7:51820", serverAddress: String? = nil, mtu: Int? = nil
) throws -> WireGuardConfig {
    WireGuardConfig(
        deviceID: "device-1",
        privateKey: try PrivateKey(base64: "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk="),
        addresses: try addresses.map { try InterfaceAddress($0) },
        serverPublicKey: try PublicKey(base64: "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg="),
        endpoint: try Endpoint(endpoint), allowedIPs: try allowedIPs.map { try IPPrefix($0) },
        serverAddress: try serverAddress.map { try IPAddress($0) }, mtu: mtu)
}

/// A plan for the interface `ng0`.
func samplePlan(
    addresses: [String] = ["10.172.21.2/32"], allowedIPs: [String] = ["0.0.0.0/0"],
    servers: [String] = ["192.0.2.7"], serverAddress: String? = nil, mtu: Int? = nil,
    capabilities: HostCapabilities = HostCapabilities()
) throws -> HostPlan {
    HostPlan(
        config: try sampleConfig(
            addresses: addresses, allowedIPs: allowedIPs, serverAddress: serverAddress, mtu: mtu),
        interfaceName: "ng0", serverAddresses: try servers.map { try IPAddress($0) },
        capabilities: capabilities)
}

/// Keeps a journal in memory, and refuses to when told.
final class MemoryJournal: JournalStorage {
    private struct State {
        var bytes: [UInt8]?
        var saves: [[UInt8]] = []
        var savesLeft: Int?
        var asides = 0
    }

    private let state = Mutex(State())

    init(_ bytes: [UInt8]? = nil) {
        state.withLock { $0.bytes = bytes }
    }

    /// What was saved, call by call.
    var saves: [[UInt8]] { state.withLock { $0.saves } }
    /// What is kept.
    var bytes: [UInt8]? { state.withLock { $0.bytes } }
    /// How often what was kept was set aside.
    var asides: Int { state.withLock { $0.asides } }

    /// Refuses all calls after a number of further ones; `nil` refuses none.
    func allow(_ count: Int?) { state.withLock { $0.savesLeft = count } }

    func save(_ bytes: [UInt8]) throws(HostError) {
        let isRefused = state.withLock { state in
            if let left = state.savesLeft {
                guard left > 0 else { return true }
                state.savesLeft = left - 1
            }
            state.bytes = bytes.isEmpty ? nil : bytes
            state.saves.append(bytes)
            return false
        }
        if isRefused { throw .journal(operation: "write", errno: 28) }
    }

    func load() throws(HostError) -> [UInt8]? { state.withLock { $0.bytes } }

    func setAside() {
        state.withLock {
            $0.bytes = nil
            $0.asides += 1
        }
    }
}
