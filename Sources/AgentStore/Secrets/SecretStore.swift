// SPDX-License-Identifier: MIT

public import AgentCore
public import NexusGuard

/// Keeps what makes this host this device: the tunnel's keys, the provisioning key, a token not yet used.
///
/// Each is a file of its own with mode 0600, encrypted where the directory has a host key. A save is whole or
/// not at all, and is on the disk when it returns.
///
/// Each call throws `AgentError.storeUnusable` for a file of a newer version and for one whose host key is
/// lost, and `AgentError.secretStore` when the system fails. A load gives `nil` when nothing was saved, and
/// when every copy is damaged, which is in `StateDirectory.health`.
public final class SecretStore: Sendable {
    private let tunnel: AtomicFile<TunnelFormOne>
    private let key: AtomicFile<ProvisioningKeyFormOne>
    private let token: AtomicFile<PendingTokenFormOne>
    private let addresses: AtomicFile<ControlAddressesFormOne>

    /// Creates a store in a directory; reads and writes nothing yet.
    public init(directory: StateDirectory) {
        tunnel = AtomicFile(
            "tunnel.json", kind: "tunnel", format: StoredFormat(TunnelFormOne.self), in: directory,
            options: .init(isSecret: true))
        key = AtomicFile(
            "key.json", kind: "key", format: StoredFormat(ProvisioningKeyFormOne.self), in: directory,
            options: .init(isSecret: true))
        // Once it is used, no older generation of a token may come up again.
        token = AtomicFile(
            "token.json", kind: "token", format: StoredFormat(PendingTokenFormOne.self), in: directory,
            options: .init(keepsPrevious: false, isSecret: true))
        addresses = AtomicFile(
            "addresses.json", kind: "addresses", format: StoredFormat(ControlAddressesFormOne.self),
            in: directory)
    }

    /// Writes the configuration of the tunnel; the one before it is kept for `rollBackWireGuardConfig`.
    ///
    /// Saving what is stored already changes nothing.
    public func saveWireGuardConfig(_ config: WireGuardConfig) throws(AgentError) {
        try tunnel.save(TunnelFormOne(config))
    }

    /// The configuration that was written last.
    public func loadWireGuardConfig() throws(AgentError) -> WireGuardConfig? { try tunnel.load()?.config }

    /// The configuration before the last one.
    public func loadPreviousWireGuardConfig() throws(AgentError) -> WireGuardConfig? {
        try tunnel.loadPrevious()?.config
    }

    /// Makes the configuration before the last one the stored one, and drops the last one.
    ///
    /// - Returns: The configuration that is stored now; `nil`, with nothing changed, when there is no other.
    public func rollBackWireGuardConfig() throws(AgentError) -> WireGuardConfig? {
        try tunnel.rollBack()?.config
    }

    /// Writes the provisioning key; the one before it is kept in case this one gets damaged.
    public func saveProvisioningKey(_ key: ProvisioningKey) throws(AgentError) {
        try self.key.save(ProvisioningKeyFormOne(key))
    }

    /// The provisioning key.
    public func loadProvisioningKey() throws(AgentError) -> ProvisioningKey? { try key.load()?.key }

    /// Writes a token that has not led to an identity yet.
    public func savePendingToken(_ token: String) throws(AgentError) {
        guard !token.isEmpty, token.utf8.count <= 4096 else {
            throw .configInvalid(field: "token", reason: "has not 1 to 4096 bytes")
        }
        try self.token.save(PendingTokenFormOne(token))
    }

    /// The token that has not led to an identity yet.
    public func loadPendingToken() throws(AgentError) -> String? { try token.load()?.token }

    /// Forgets the token.
    public func clearPendingToken() throws(AgentError) { try token.clear() }

    /// Writes the addresses at which a host of the control server last answered; at most 16 are kept.
    public func saveControlAddresses(_ addresses: [IPAddress], host: String) throws(AgentError) {
        var hosts = try self.addresses.load()?.hosts ?? [:]
        if hosts[host.lowercased()] == nil, hosts.count >= ControlAddressesFormOne.largestHostCount {
            hosts = [:]
        }
        hosts[host.lowercased()] = Array(addresses.prefix(ControlAddressesFormOne.largestAddressCount))
        try self.addresses.save(ControlAddressesFormOne(hosts))
    }

    /// The addresses at which a host of the control server last answered; empty for one not known.
    public func loadControlAddresses(host: String) throws(AgentError) -> [IPAddress] {
        try addresses.load()?.hosts[host.lowercased()] ?? []
    }

    /// Forgets everything in this store, each older copy included; the hwid and the host key stay.
    ///
    /// It works without the host key, and for files of a newer version.
    public func clearAll() throws(AgentError) {
        // In this order, so that a crash on the way leaves no token that would fetch a new identity.
        try token.clear()
        try key.clear()
        try tunnel.clear()
        try addresses.clear()
    }
}
