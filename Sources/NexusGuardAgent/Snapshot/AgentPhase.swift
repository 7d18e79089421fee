// SPDX-License-Identifier: MIT

/// Where the agent stands inside; `AgentState` is what people are shown of it.
public enum AgentPhase: String, Codable, CaseIterable, Hashable, Sendable {
    /// Undoes what an earlier run left on the host and opens the stores.
    case boot = "BOOT"
    /// The tunnel is not wanted.
    case stopped = "STOPPED"
    /// Looks for a stored configuration.
    case appInit = "APP_INIT"
    /// Asks the server for an identity.
    case provision = "PROVISION"
    /// Waits before the next try.
    case appRetry = "APP_RETRY"
    /// No route leads out of the host.
    case offline = "OFFLINE"
    /// Brings the tunnel up and waits for its first handshake.
    case tunnelUp = "TUNNEL_UP"
    /// The tunnel is up and the server is told so at intervals.
    case heartbeat = "HEARTBEAT"
    /// Changes the running tunnel.
    case tunnelRebuild = "TUNNEL_REBUILD"
    /// Stands still until someone acts or a slow retry succeeds.
    case failed = "FAILED"
}
