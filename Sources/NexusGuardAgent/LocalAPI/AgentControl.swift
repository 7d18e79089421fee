// SPDX-License-Identifier: MIT

public import AgentCore

/// What the local API and the daemon ask of the agent; `AgentManager` in operation, a double in tests.
///
/// Operations that ask the control server return when it has answered or cannot be reached, and throw why it did
/// not do what was asked; the agent's own retries go on independently of that.
public protocol AgentControl: Sendable {
    /// The state now. Answering means that the agent's state machine is alive: the watchdog relies on it.
    var snapshot: AgentSnapshot { get async }

    /// The state now and each later one; a slow reader gets only the newest.
    ///
    /// Each call gives a stream of its own, which ends when the agent stops.
    var snapshots: AsyncStream<AgentSnapshot> { get async }

    /// Wants the tunnel up, now and after each start of the host; returns when that is stored.
    ///
    /// A retry that is waited for begins at once.
    func up() async throws(AgentError)

    /// Wants the tunnel down; returns when it is.
    func down() async throws(AgentError)

    /// Takes the tunnel down and brings it up again, with what is wanted unchanged in the store.
    ///
    /// - Throws: `AgentError.notProvisioned` without a configuration.
    func restart() async throws(AgentError)

    /// Contacts the control server now.
    ///
    /// - Throws: What the server answered, or why it did not; `AgentError.notProvisioned` without an identity.
    func refresh() async throws(AgentError)

    /// Asks the control server for an identity.
    ///
    /// - Parameter token: The token; `nil` takes the one that is stored.
    /// - Throws: Why there is no identity; `AgentError.notProvisioned` when no token is stored either.
    func provision(token: String?) async throws(AgentError)

    /// Tells the control server that this device is gone, takes the tunnel down and forgets the identity.
    ///
    /// - Throws: Why the server was not told; the identity is kept then.
    func deprovision() async throws(AgentError)

    /// Takes the tunnel down and forgets identity, tokens and settings, without asking the server.
    func reset() async throws(AgentError)

    /// The settings in force.
    var settings: AgentConfig { get async }

    /// Checks, stores and applies settings. `wantsUp` and `isProvisioned` of `settings` have no effect.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field.
    func update(settings: AgentConfig) async throws(AgentError)

    /// The configuration of the tunnel with its keys; `nil` without an identity.
    var wireGuardConfig: WireGuardConfig? { get async }

    /// Stores a configuration that the user supplies and makes it the tunnel's.
    ///
    /// Without a control server it is used as it is; with one it lasts until the server sends another.
    func rebuildTunnel(with config: WireGuardConfig) async throws(AgentError)

    /// The identifier of this host in full, for those who bind a token to it.
    var hwid: String { get async throws(AgentError) }
}
