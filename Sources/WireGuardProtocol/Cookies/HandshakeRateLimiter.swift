// SPDX-License-Identifier: MIT

/// Limits the handshake messages from one source to 20 a second, with bursts of 5.
///
/// An IPv4 source is one address; an IPv6 source is one /64, since whoever has one address of it has all. The
/// table holds at most 8,192 sources in about 400 KiB. A source takes room only while it is not back at its full
/// burst, which is at most 250 ms after its last message. When the table is full, new sources are refused
/// and those in it go on. The table's hash has a random key, so nobody can choose sources that collide.
package struct HandshakeRateLimiter: Sendable {
    /// The most sources remembered at one time.
    package static let maximumSources = 8_192
    /// The messages a source may send at once after silence.
    package static let burst: Int64 = 5
    /// The time after which a source may send one more message.
    package static let interval = Interval.milliseconds(50)

    /// What counts as one source.
    private struct Source: Hashable {
        let network: UInt64
        let isIPv6: Bool

        init(_ address: IPAddress) {
            network = address.high
            isIPv6 = address.isIPv6
        }
    }

    /// When each source will be back at its full burst.
    private var fullAgain: [Source: Instant] = [:]
    /// When the next look for sources that are full again is due.
    private var nextSweep: Instant?

    /// Starts with an empty table, its room reserved.
    package init() {
        fullAgain.reserveCapacity(Self.maximumSources)
    }

    /// The number of sources in the table.
    package var sourceCount: Int { fullAgain.count }

    /// Takes a token of the source, or says `false` when it has none.
    package mutating func allow(_ address: IPAddress, at now: Instant) -> Bool {
        let source = Source(address)
        guard let full = fullAgain[source] else {
            sweep(at: now)
            guard fullAgain.count < Self.maximumSources else { return false }
            fullAgain[source] = now + Self.interval
            return true
        }
        let base = max(full, now)
        // Each missing token is one interval until the bucket is full.
        guard base - now <= Self.interval * (Self.burst - 1) else { return false }
        fullAgain[source] = base + Self.interval
        return true
    }

    /// Removes sources that are full again, at most once in the time that filling takes.
    private mutating func sweep(at now: Instant) {
        if let nextSweep, now < nextSweep { return }
        nextSweep = now + Self.interval * Self.burst
        var expired: [Source] = []
        for (source, full) in fullAgain where full <= now { expired.append(source) }
        for source in expired { fullAgain[source] = nil }
    }
}
