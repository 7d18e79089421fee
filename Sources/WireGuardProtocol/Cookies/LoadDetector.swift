// SPDX-License-Identifier: MIT

/// Says whether the device is under load, so that handshake messages need a valid mac2 (section 5.3).
///
/// A token bucket of handshake messages with a valid mac1: when it runs empty, the device is under load, and
/// stays so until one second after the last message that found it empty.
package struct LoadDetector: Sendable {
    /// How long the load lasts after the bucket was empty.
    package static let persistence = Interval.seconds(1)

    /// The number of messages a second that is no load.
    private let rate: Int64
    /// The full bucket, in billionths of a message.
    private let capacity: Int64
    /// What the bucket holds, in billionths of a message.
    private var level: Int64
    /// When the level was computed; `nil` before the first message.
    private var updated: Instant?
    /// The end of the load, if there was one.
    private var loadEnd: Instant?

    /// Starts with a full bucket.
    ///
    /// - Parameters:
    ///   - rate: Messages a second, 1 to 1,000,000.
    ///   - capacity: Messages at once, 1 to 1,000,000.
    package init(rate: Int = 1_024, capacity: Int = 1_024) {
        precondition(
            (1...1_000_000).contains(rate) && (1...1_000_000).contains(capacity), "a bucket within bounds")
        self.rate = Int64(rate)
        self.capacity = Int64(capacity) * Self.scale
        level = self.capacity
    }

    /// Counts one handshake message with a valid mac1.
    ///
    /// - Returns: Whether the device is under load, this message included.
    package mutating func note(at now: Instant) -> Bool {
        if let updated {
            let elapsed = min(max((now - updated).nanoseconds, 0), capacity / rate + 1)
            level = min(capacity, level + elapsed * rate)
        }
        updated = now
        if level >= Self.scale {
            level -= Self.scale
        } else {
            loadEnd = now + Self.persistence
        }
        return isUnderLoad(at: now)
    }

    /// Whether the device is under load, without counting a message.
    package func isUnderLoad(at now: Instant) -> Bool {
        guard let loadEnd else { return false }
        return now < loadEnd
    }

    /// One message, in the unit of the level.
    private static let scale: Int64 = 1_000_000_000
}
