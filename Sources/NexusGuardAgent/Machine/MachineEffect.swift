// SPDX-License-Identifier: MIT

package import AgentCore

extension AgentMachine {
    /// What the agent is to do; those above the gap are answered by an event.
    package enum Effect: Hashable, Sendable {
        /// Read what is stored: `loaded` or `loadFailed`.
        case loadConfiguration
        /// Bring the tunnel up with the configuration in use: `tunnelStarted` or `tunnelFailed`.
        case startTunnel
        /// Take the tunnel down: `tunnelStopped`.
        case stopTunnel
        /// Apply the candidate to the running tunnel: `applied` or `applyFailed`.
        case applyCandidate
        /// Apply the last good configuration to the running tunnel: `rolledBack` or `rollBackFailed`.
        case rollBack
        /// Ask for an identity: `provisionAnswered` or `provisionFailed`.
        ///
        /// `acceptsOther` is whether the identity may be another than the stored one.
        case provision(acceptsOther: Bool)
        /// Store and use the identity that came, then forget the token: `identityAdopted`.
        case adoptIdentity
        /// Send a heartbeat: `heartbeatAccepted` or `heartbeatFailed`.
        case sendHeartbeat
        /// Fetch the forwards: `forwardsFetched` or `forwardsFailed`.
        case fetchForwards
        /// Tell the server to forget this device: `deprovisioned` or `deprovisionFailed`.
        case deprovision
        /// Write what could not be written: `stored`.
        case saveIdentity

        /// Drop the identity that came: it is no longer wanted.
        case discardIdentity
        /// Store the configuration that runs as the last good one.
        case confirmCandidate
        /// Use and store the candidate; the tunnel is down, so that there is nothing to apply it to.
        case storeCandidate
        /// Drop the candidate, also where it runs unproven: the last good configuration is the one in use.
        case discardCandidate
        /// Resolve the server's name anew and say where this host is.
        case refreshTunnel
        /// Forget the token that waits.
        case erasePendingToken
        /// Forget the identity, its keys and every copy.
        case eraseIdentity
        /// Forget everything that is stored.
        case eraseEverything
        /// Remember what the user wants.
        case saveWantsUp(Bool)
        /// Log a line.
        case log(LogLevel, tag: String, message: String)
    }
}
