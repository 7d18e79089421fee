// SPDX-License-Identifier: MIT

package import AgentCore

extension AgentMachine {
    /// What happens to the agent.
    package enum Event: Hashable, Sendable {
        // The host.
        /// What an earlier run left is undone and the stores are open.
        case booted(wantsUp: Bool, isOnline: Bool)
        /// What is stored, as asked for by `Effect.loadConfiguration`.
        case loaded(Inventory)
        /// The stores could not be read, which is not the same as being empty.
        case loadFailed(AgentError)
        /// A deadline has come; with what the tunnel looks like while it is up.
        case timer(Observation?)
        /// The agent ends.
        case shutdown

        // The user.
        /// The tunnel is wanted up.
        case up
        /// The tunnel is wanted down.
        case down
        /// The tunnel is to be taken down and brought up again.
        case restart
        /// Everything that waits is to be tried now.
        case refresh
        /// A token was stored, or the administrator's is to be used.
        case tokenSupplied(isPending: Bool)
        /// The server is to forget this device.
        case deprovision
        /// This host is to forget the device, at once and whatever the server thinks.
        case reset
        /// Settings were changed.
        case settingsChanged(hasServer: Bool, hasConfiguredToken: Bool, isOtherServer: Bool)
        /// The user gave a configuration; `difference` is the one from what runs.
        case configImported(difference: ConfigDifference)

        // The network.
        /// A route leads out of the host again.
        case online
        /// No route leads out of the host.
        case offline
        /// Addresses, routes or links changed, or the host has slept.
        case networkChanged

        // The tunnel.
        /// The tunnel is up, without a handshake yet.
        case tunnelStarted
        /// The tunnel could not be brought up.
        case tunnelFailed(AgentError)
        /// The tunnel is down.
        case tunnelStopped
        /// The candidate runs; `ConfigDifference.identity` means that it must prove itself.
        case applied(ConfigDifference)
        /// The candidate could not be applied, what ran before runs.
        case applyFailed(AgentError)
        /// The configuration from before the candidate runs.
        case rolledBack
        /// The configuration from before the candidate cannot be applied to the running tunnel.
        case rollBackFailed(AgentError)

        // The server.
        /// An identity has come and waits to be adopted.
        case provisionAnswered
        /// The identity is in use; `problem` says why it could not be stored, if so.
        case identityAdopted(difference: ConfigDifference, problem: AgentError?)
        /// No identity has come.
        case provisionFailed(Failure)
        /// The server accepted a heartbeat.
        case heartbeatAccepted(News)
        /// The server did not accept a heartbeat.
        case heartbeatFailed(Failure)
        /// The forwards were fetched and stored.
        case forwardsFetched
        /// The forwards were not fetched.
        case forwardsFailed(Failure)
        /// The server has forgotten this device.
        case deprovisioned
        /// The server did not forget this device.
        case deprovisionFailed(Failure)
        /// A store works, or fails with this error.
        case stored(AgentError?)
    }

    /// What is stored and set.
    package struct Inventory: Hashable, Sendable {
        /// Whether there is an identity.
        package var hasIdentity: Bool
        /// Whether a token is stored that has not led to an identity.
        package var hasPendingToken: Bool
        /// Whether the administrator gave a token.
        package var hasConfiguredToken: Bool
        /// Whether a server is set.
        package var hasServer: Bool

        /// Creates an inventory.
        package init(
            hasIdentity: Bool, hasPendingToken: Bool = false, hasConfiguredToken: Bool = false,
            hasServer: Bool = true
        ) {
            self.hasIdentity = hasIdentity
            self.hasPendingToken = hasPendingToken
            self.hasConfiguredToken = hasConfiguredToken
            self.hasServer = hasServer
        }
    }

    /// What a look at the tunnel shows.
    package struct Observation: Hashable, Sendable {
        /// Whether the interface is there and the engine runs.
        package var isUp: Bool
        /// When the last handshake since the start, or since the identity changed, was; on the agent's clock.
        package var lastHandshake: Duration?
        /// Whether no handshake is to be expected: the tunnel sends no keepalives, and nothing else was sent that
        /// the server has left unanswered.
        package var isQuiet: Bool

        /// Creates an observation.
        package init(isUp: Bool, lastHandshake: Duration? = nil, isQuiet: Bool = false) {
            self.isUp = isUp
            self.lastHandshake = lastHandshake
            self.isQuiet = isQuiet
        }
    }

    /// What an accepted heartbeat brings.
    package struct News: Hashable, Sendable {
        /// How the server's configuration differs from the one in use.
        package var difference: ConfigDifference
        /// Stands for that configuration.
        package var digest: [UInt8]
        /// The interval that the server asks for.
        package var nextInterval: Duration?
        /// Whether the forwards have changed and were not sent along.
        package var needsForwards: Bool
        /// How far the clock is off, where that is worth a word.
        package var clockSkew: Duration?

        /// Creates news.
        package init(
            difference: ConfigDifference = .none, digest: [UInt8] = [], nextInterval: Duration? = nil,
            needsForwards: Bool = false, clockSkew: Duration? = nil
        ) {
            self.difference = difference
            self.digest = digest
            self.nextInterval = nextInterval
            self.needsForwards = needsForwards
            self.clockSkew = clockSkew
        }
    }

    /// Why a request failed.
    package struct Failure: Hashable, Sendable {
        /// What went wrong.
        package var error: AgentError
        /// Whether an answer came that does not keep to the interface.
        package var isMalformed: Bool
        /// Whether the answer proves that it comes from who knows this device's key.
        package var isProven: Bool

        /// Creates a failure.
        package init(_ error: AgentError, isMalformed: Bool = false, isProven: Bool = false) {
            self.error = error
            self.isMalformed = isMalformed
            self.isProven = isProven
        }
    }
}
