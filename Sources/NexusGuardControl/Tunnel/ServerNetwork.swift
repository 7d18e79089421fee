// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHost
internal import NexusGuard
internal import Synchronization

/// The addresses of the server peer's interface.
///
/// Nothing of it outlives the process: the interface goes with it, and the addresses and their routes go with the
/// interface. So the journal of changes is kept in memory only.
final class ServerNetwork: Sendable {
    private let network: HostNetwork
    private let interfaceName: String

    /// Prepares for an interface; nothing is changed.
    init(interfaceName: String, log: any LogSink) {
        network = HostNetwork(storage: MemoryJournal(), log: log)
        self.interfaceName = interfaceName
    }

    /// Checks that no interface has the name.
    ///
    /// - Throws: `HostError.interfaceTaken`.
    func claim() throws(HostError) {
        try network.claimInterface(interfaceName)
    }

    /// Gives the interface, which must be there, the server's addresses; what others delete is put back.
    ///
    /// - Throws: `HostError`.
    func apply(pools: [AddressPool], privateKey: PrivateKey, endpoint: Endpoint, mtu: Int) throws(HostError) {
        // The plan of a device that has just these addresses: the networks around them need no further routes.
        let config = WireGuardConfig(
            deviceID: "server", privateKey: privateKey, addresses: pools.map(\.serverInterfaceAddress),
            serverPublicKey: privateKey.publicKey, endpoint: endpoint, allowedIPs: pools.map(\.network),
            mtu: mtu)
        try network.apply(HostPlan(config: config, interfaceName: interfaceName))
    }

    /// Undoes all of it.
    func remove() {
        network.remove()
    }

    /// A journal that ends with the process.
    private final class MemoryJournal: JournalStorage {
        private let bytes = Mutex<[UInt8]>([])

        func save(_ bytes: [UInt8]) { self.bytes.withLock { $0 = bytes } }
        func load() -> [UInt8]? { bytes.withLock { $0.isEmpty ? nil : $0 } }
        func setAside() { save([]) }
    }
}
