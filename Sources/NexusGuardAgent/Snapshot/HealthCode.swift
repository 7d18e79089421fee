// SPDX-License-Identifier: MIT

/// The stable codes of health items that are no `AgentError`.
public enum HealthCode {
    /// No handshake for more than 180 s.
    public static let handshakeStale = "handshake-stale"
    /// The state directory cannot be written; what is stored is lost with the next start of the host.
    public static let storeDegraded = "store-degraded"
    /// The machine-id is not the one that the hwid was made of, as on a cloned disk.
    public static let machineIDChanged = "machine-id-changed"
    /// No route leads out of the host.
    public static let offline = "offline"
    /// A configuration of the server was taken back because no handshake came.
    public static let rolledBack = "rolled-back"
    /// The tunnel is not wanted up.
    public static let stopped = "stopped"
}
