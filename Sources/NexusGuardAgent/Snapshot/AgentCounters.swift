// SPDX-License-Identifier: MIT

/// What happened how often since the agent started.
public struct AgentCounters: Codable, Hashable, Sendable {
    /// Heartbeats sent.
    public var heartbeatsSent: UInt64
    /// Heartbeats that the server accepted.
    public var heartbeatsAccepted: UInt64
    /// Requests for an identity.
    public var provisionsSent: UInt64
    /// Identities received.
    public var provisionsAccepted: UInt64
    /// Times the tunnel was brought up.
    public var tunnelStarts: UInt64
    /// Changes applied to the running tunnel.
    public var rebuilds: UInt64
    /// Changes taken back.
    public var rollbacks: UInt64
    /// Answers that could not be read, were for another device or could not be decrypted.
    public var malformedAnswers: UInt64
    /// Failures by the code of `AgentError`.
    public var failures: [String: UInt64]

    /// Creates counters of nothing.
    public init() {
        heartbeatsSent = 0
        heartbeatsAccepted = 0
        provisionsSent = 0
        provisionsAccepted = 0
        tunnelStarts = 0
        rebuilds = 0
        rollbacks = 0
        malformedAnswers = 0
        failures = [:]
    }
}
