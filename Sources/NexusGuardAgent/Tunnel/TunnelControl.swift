// SPDX-License-Identifier: MIT

public import AgentCore
public import FoundationEssentials

/// Brings the tunnel of this device up, changes it and takes it down.
public protocol TunnelControl: Sendable {
    /// Brings the tunnel up: interface, addresses, routes, engine. A tunnel that is up is changed instead.
    ///
    /// Returns when the host is set up, which is before the first handshake.
    ///
    /// - Throws: `AgentError.tunnelInitFailed`; the host is then as it was before.
    func startTunnel(config: WireGuardConfig) async throws(AgentError)

    /// Makes the tunnel that is up this configuration, in place.
    ///
    /// The session goes on unless the identity differs.
    ///
    /// - Returns: What was different from the former configuration.
    /// - Throws: `AgentError.tunnelInitFailed`; the former configuration is then back.
    func apply(_ config: WireGuardConfig) async throws(AgentError) -> ConfigDifference

    /// Takes the tunnel down and undoes every change to the host; does nothing when it is down.
    func stopTunnel() async

    /// Whether the interface is up and the engine runs.
    func isTunnelUp() -> Bool

    /// When the last handshake with the server completed; `nil` before the first and when the tunnel is down.
    func getLastHandshake() -> Date?

    /// What there is to say of the tunnel; `nil` when it is down.
    func info() -> TunnelInfo?

    /// Resolves the server's name anew and sends at once, so that the server learns where this device is now.
    ///
    /// To be called after the host's network has changed and after a sleep.
    func networkChanged() async
}
