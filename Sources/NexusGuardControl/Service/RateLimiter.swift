// SPDX-License-Identifier: MIT

internal import NexusGuard

/// Lets each address do something a few times in a span of time.
///
/// IPv6 addresses count by their first 64 bits, since one host has that many.
package struct RateLimiter: Sendable {
    private let limit: Int
    private let interval: Duration
    private let capacity: Int
    /// When each address was let through, the oldest first.
    private var times: [String: [Duration]] = [:]

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - limit: How often an address is let through in `interval`.
    ///   - interval: The span of time.
    ///   - capacity: How many addresses are remembered; beyond it the one that was quiet for longest is forgotten.
    package init(limit: Int, interval: Duration = .seconds(60), capacity: Int = 10_000) {
        self.limit = limit
        self.interval = interval
        self.capacity = capacity
    }

    /// How many addresses are remembered.
    package var count: Int { times.count }

    /// Lets an address through, or says how long it has to wait.
    ///
    /// - Parameter now: A time that never goes backwards.
    package mutating func admit(_ address: String, at now: Duration) -> Duration? {
        let key = Self.key(of: address)
        var recent = (times[key] ?? []).filter { now - $0 < interval }
        if recent.count >= limit {
            times[key] = recent
            guard let oldest = recent.first else { return interval }
            return oldest + interval - now
        }
        recent.append(now)
        if times[key] == nil, times.count >= capacity { makeRoom(at: now) }
        times[key] = recent
        return nil
    }

    private mutating func makeRoom(at now: Duration) {
        times = times.filter { entry in entry.value.contains { now - $0 < interval } }
        guard times.count >= capacity else { return }
        let quietest = times.min { ($0.value.last ?? .zero) < ($1.value.last ?? .zero) }
        if let quietest { times[quietest.key] = nil }
    }

    /// What counts as one address.
    private static func key(of address: String) -> String {
        let plain = address.prefix { $0 != "%" }
        let mapped = "::ffff:"
        if plain.lowercased().hasPrefix(mapped), plain.contains(".") {
            return String(plain.dropFirst(mapped.count))
        }
        guard let parsed = try? IPAddress(plain), parsed.isIPv6,
            let network = IPPrefix(address: parsed, length: 64)
        else { return String(plain) }
        return network.description
    }
}
