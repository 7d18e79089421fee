// SPDX-License-Identifier: MIT

public import AgentCore
internal import Glibc
public import NexusGuard

/// Keeps what makes this host this device: the tunnel's keys, the provisioning key, a token not yet used.
///
/// Each is a file of its own with mode 0600. A save is whole or not at all.
public final class SecretStore: Sendable {
    /// Creates a store in a directory; reads and writes nothing yet.
    public init(directory: StateDirectory) {}

    /// Writes the configuration of the tunnel; the one before it is kept for `rollBackWireGuardConfig`.
    ///
    /// Saving what is stored already changes nothing.
    public func saveWireGuardConfig(_ config: WireGuardConfig) throws(AgentError) {
        throw .secretStore(ENOSYS)
    }

    /// The configuration that was written last; `nil` before the first and when every copy is damaged.
    public func loadWireGuardConfig() throws(AgentError) -> WireGuardConfig? {
        throw .secretStore(ENOSYS)
    }

    /// The configuration before the last one.
    public func loadPreviousWireGuardConfig() throws(AgentError) -> WireGuardConfig? {
        throw .secretStore(ENOSYS)
    }

    /// Makes the configuration before the last one the stored one, and drops the last one.
    ///
    /// - Returns: The configuration that is stored now; `nil`, with nothing changed, when there is no other.
    public func rollBackWireGuardConfig() throws(AgentError) -> WireGuardConfig? {
        throw .secretStore(ENOSYS)
    }

    /// Writes a token that has not led to an identity yet.
    public func savePendingToken(_ token: String) throws(AgentError) {
        throw .secretStore(ENOSYS)
    }

    /// The token that has not led to an identity yet.
    public func loadPendingToken() throws(AgentError) -> String? {
        throw .secretStore(ENOSYS)
    }

    /// Forgets the token.
    public func clearPendingToken() throws(AgentError) {
        throw .secretStore(ENOSYS)
    }

    /// Writes the addresses at which a host of the control server last answered.
    public func saveControlAddresses(_ addresses: [IPAddress], host: String) throws(AgentError) {
        throw .secretStore(ENOSYS)
    }

    /// The addresses at which a host of the control server last answered; empty for one not known.
    public func loadControlAddresses(host: String) throws(AgentError) -> [IPAddress] {
        throw .secretStore(ENOSYS)
    }

    /// Forgets everything in this store, each older copy included; the hwid and the host key stay.
    public func clearAll() throws(AgentError) {
        throw .secretStore(ENOSYS)
    }
}
