// SPDX-License-Identifier: MIT

internal import FoundationEssentials

/// Turns the wall times of handshakes into instants of the agent's clock.
///
/// The wall time may jump between a handshake and the look at it. What is certain is that a handshake whose
/// time is another than at the last look came after that look.
struct HandshakeTracker {
    /// The time of a handshake from before the tunnel started or changed, which does not count.
    private var baseline: Date?
    private var lastDate: Date?
    private var lastInstant: Duration?
    private var lastLook: Duration = .zero

    /// Forgets what there was: only handshakes from now on count.
    mutating func reset(baseline: Date?, now: Duration) {
        self.baseline = baseline
        lastDate = nil
        lastInstant = nil
        lastLook = now
    }

    /// Takes the time of the last handshake as the engine tells it.
    ///
    /// - Returns: When that was; `nil` when there was none that counts.
    mutating func look(_ handshake: Date?, now: Duration, date: Date) -> Duration? {
        defer { lastLook = now }
        guard let handshake, handshake != baseline else { return lastInstant }
        baseline = nil
        guard handshake != lastDate else { return lastInstant }
        lastDate = handshake
        let age = Duration.seconds(min(max(date.timeIntervalSince(handshake), 0), 1e9))
        let instant = now - min(age, max(now - lastLook, .zero))
        lastInstant = max(instant, lastInstant ?? instant)
        return lastInstant
    }
}
