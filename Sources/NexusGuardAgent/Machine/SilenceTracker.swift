// SPDX-License-Identifier: MIT

/// Tells a tunnel that has nothing to say from one whose server does not answer.
///
/// A handshake is made when there is something to send. Without keepalives an idle tunnel therefore has none for as
/// long as nobody uses it, and nothing is wrong. What is sent over a session that is too old is a handshake's first
/// message: when such bytes were sent and no handshake came of them for a while, the server is away.
struct SilenceTracker {
    /// What had been sent when the last handshake was first seen to be too old.
    private var baseline: UInt64?
    /// When more than that was first seen to be sent.
    private var sentSince: Duration?

    /// Takes note of a look at the tunnel.
    ///
    /// - Parameters:
    ///   - sentByteCount: What was sent since the tunnel started, handshakes included.
    ///   - handshake: The last handshake that counts; `nil` when the first is still due.
    /// - Returns: Whether no handshake is to be expected.
    mutating func look(
        sendsKeepalives: Bool, sentByteCount: UInt64, handshake: Duration?, now: Duration
    ) -> Bool {
        guard !sendsKeepalives, let handshake, now - handshake > AgentMachine.Timing.staleAfter else {
            baseline = nil
            sentSince = nil
            return false
        }
        guard let before = baseline, sentByteCount >= before else {
            baseline = sentByteCount
            sentSince = nil
            return true
        }
        guard sentByteCount > before else { return true }
        let since = sentSince ?? now
        sentSince = since
        return now - since < AgentMachine.Timing.unanswered
    }
}
