// SPDX-License-Identifier: MIT

package import AgentCore

extension AgentMachine {
    /// Everything that decides what the agent does next.
    package struct State: Hashable, Sendable {
        /// Where the agent stands.
        package var phase: AgentPhase = .boot

        // What is wanted.
        /// Whether the tunnel is wanted up.
        package var wantsUp = false
        /// Whether an identity is wanted although the tunnel may not be.
        package var wantsIdentity = false
        /// Whether the server is to be told to forget this device.
        package var wantsDeprovision = false
        /// Whether the tunnel is to be taken down once.
        package var wantsRestart = false
        /// Whether the agent ends.
        package var isShuttingDown = false

        // What is there.
        /// What is stored and set.
        package var inventory = Inventory(hasIdentity: false, hasServer: false)
        /// Whether a route leads out of the host.
        package var isOnline = true

        // What is under way.
        /// The one request that is in flight.
        package var request: Request?
        /// Whether an identity has come that is not in use yet.
        package var isAdopting = false
        /// What is being done to the tunnel.
        package var tunnelWork: TunnelWork?

        // The tunnel.
        /// Whether the tunnel exists.
        package var tunnelIsUp = false
        /// The last handshake since the start, or since the identity changed.
        package var lastHandshake: Duration?
        /// Whether that is too long ago.
        package var isStale = false
        /// Whether no handshake is to be expected, as last seen.
        package var isQuiet = false
        /// Whether the configuration that runs has another identity and no handshake yet.
        package var isVerifying = false
        /// How the configuration that waits to be applied differs from the one in use.
        package var candidate: ConfigDifference?
        /// Stands for the configuration that was offered last.
        package var candidateDigest: [UInt8] = []
        /// The configuration that was taken back.
        package var rejection: Rejection?

        // The server.
        /// The interval of heartbeats.
        package var interval = Timing.heartbeat
        /// An interval that no server changes; for tests of very many heartbeats alone.
        package var fixedInterval: Duration?
        /// Whether a heartbeat is due as soon as one may be sent.
        package var wantsHeartbeat = false
        /// Whether the next interval is to begin anywhere within itself, so that agents drift apart.
        package var spreadsNextHeartbeat = true
        /// Whether the server is to hear that the tunnel went down.
        package var wantsFarewell = false
        /// Whether the forwards are to be fetched.
        package var wantsForwards = false
        /// Whether an identity is to be asked for anew.
        package var wantsReprovision = false
        /// Heartbeats that failed in a row.
        package var heartbeatFailures = 0
        /// Whether the server refuses the credentials of the identity.
        package var isUnauthorized = false
        /// Whether the server says that it does not know the identity.
        package var isRevoked = false
        /// Whether the user gave a token for whatever identity it brings.
        package var acceptsOtherIdentity = false
        /// Whether a token came while one was being used.
        package var hasFresherToken = false
        /// Before when no identity is asked for, because the credentials were refused.
        package var provisionNotBefore: Duration?
        /// Heartbeats out of turn.
        var prompts = RateLimit(burst: Timing.promptBurst, period: Timing.promptPeriod)
        /// Looking for the server's address out of turn.
        var refreshes = RateLimit(burst: Timing.refreshBurst, period: Timing.refreshPeriod)

        // What went wrong.
        /// Tries in a row that failed to bring up what the phase is for.
        package var attempts = 0
        /// Why the agent is not where it should be.
        package var failure: AgentError?
        /// Why the last heartbeat failed.
        package var heartbeatProblem: AgentError?
        /// Why the forwards are not known.
        package var forwardsProblem: AgentError?
        /// Why the stores cannot be written.
        package var storeProblem: AgentError?
        /// Whether what is stored could not be read, so that nobody knows whether there is an identity.
        package var isUnreadable = false
        /// Whether the identity in use could not be written.
        package var isUnsaved = false
        /// How far the clock is off.
        package var clockSkew: Duration?
        /// When each code was last logged.
        var lastLogged: [String: Duration] = [:]

        /// When there is something to do.
        package var deadlines = Deadlines()
        /// What happened how often.
        package var counters = AgentCounters()

        /// The state before anything happened.
        package init() {}

        /// When a `timer` event is due.
        package var nextDeadline: Duration? { deadlines.next }

        /// Whether there is something to bring about.
        var isActive: Bool { wantsUp || wantsIdentity }

        /// Whether there is a token of any kind.
        var hasToken: Bool { inventory.hasPendingToken || inventory.hasConfiguredToken }

        /// Whether the tunnel has a handshake that is recent enough, seen at `now`.
        func isFresh(at now: Duration) -> Bool {
            guard tunnelIsUp, let lastHandshake else { return false }
            return now - lastHandshake <= Timing.staleAfter
        }
    }

    /// A request to the server.
    package struct Request: Hashable, Sendable {
        /// What a request is for.
        package enum Kind: Hashable, Sendable {
            /// An identity.
            case provision
            /// News, and the state of the tunnel.
            case heartbeat
            /// The same, but the last for now.
            case farewell
            /// The forwards.
            case forwards
            /// To be forgotten.
            case deprovision
        }

        /// What it is for.
        package let kind: Kind
        /// Whether its answer is no longer wanted.
        package var isAbandoned = false
    }

    /// What is being done to the tunnel.
    package enum TunnelWork: Hashable, Sendable {
        /// It is being brought up.
        case starting
        /// The candidate is being applied.
        case applying
        /// The last good configuration is being applied.
        case rollingBack
        /// It is being taken down.
        case stopping
    }

    /// A configuration that was taken back.
    package struct Rejection: Hashable, Sendable {
        /// Stands for the configuration.
        package var digest: [UInt8]
        /// Why.
        package var error: AgentError
        /// How often.
        package var count: Int
        /// Before when it is not tried again while the other one works.
        package var until: Duration
    }
}
