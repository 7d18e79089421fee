// SPDX-License-Identifier: MIT

extension AgentMachine {
    /// The times that the agent keeps to.
    package enum Timing {
        /// How long a handshake may take after the tunnel came up or got another identity.
        package static let firstHandshake: Duration = .seconds(15)
        /// How old the last handshake of a connected tunnel is at most.
        package static let staleAfter: Duration = .seconds(180)
        /// The interval of heartbeats when the server names none.
        package static let heartbeat: Duration = .seconds(30)
        /// The bounds of an interval that the server names.
        package static let heartbeatBounds: ClosedRange<Duration> = .seconds(5) ... .seconds(3_600)
        /// How far a heartbeat strays from its interval, as a part of it, to both sides.
        package static let heartbeatJitter = 0.1
        /// What the first tries after a failure wait on average.
        package static let fastRetries: [Duration] = [.seconds(2), .seconds(4), .seconds(8)]
        /// The bounds of the slow retries that follow.
        package static let slowRetries: ClosedRange<Duration> = .seconds(300) ... .seconds(1_800)
        /// The shortest wait of heartbeats after the fast tries; it grows to the longest slow retry.
        package static let heartbeatBackOff: Duration = .seconds(30)
        /// How long the server can keep the agent from asking.
        package static let longestHold: Duration = .seconds(3_600)
        /// The shortest time between two requests for an identity once the credentials were refused.
        package static let refusedCredentials: Duration = .seconds(3_600)
        /// The bounds of the wait for an identity anew, so that a whole fleet does not ask at once.
        package static let reprovisionSpread: Duration = .seconds(30)
        /// How often a tunnel that must prove itself is looked at.
        package static let verificationPoll: Duration = .milliseconds(250)
        /// How often a tunnel without a handshake is looked at.
        package static let idlePoll: Duration = .seconds(5)
        /// How often a tunnel that sends nothing by itself is looked at.
        package static let quietPoll: Duration = .seconds(15)
        /// How long what such a tunnel sends may go unanswered.
        package static let unanswered: Duration = .seconds(15)
        /// How often the server's name is resolved anew while there is no handshake.
        package static let staleRefresh: Duration = .seconds(60)
        /// How long a configuration that was taken back is not tried again; doubles up to a slow retry.
        package static let rejection: Duration = .seconds(120)
        /// How often a failure with the same code is logged at most.
        package static let logPeriod: Duration = .seconds(600)
        /// Heartbeats out of turn: this many in a row, then one in each period.
        package static let promptBurst = 3
        /// The period of heartbeats out of turn.
        package static let promptPeriod: Duration = .seconds(10)
        /// Looking for the server's new address out of turn: this often in a row, then once in each period.
        package static let refreshBurst = 5
        /// The period of looking for the server's address out of turn.
        package static let refreshPeriod: Duration = .seconds(5)
    }
}
