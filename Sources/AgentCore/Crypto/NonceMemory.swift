// SPDX-License-Identifier: MIT

/// Remembers the nonces of valid requests for as long as they could be sent again.
///
/// Ask only after the proof of a request is found valid, so that only those who know a key can fill it. It holds a
/// bounded number of nonces for each device and in all; when there is no room, requests are refused rather than old
/// nonces forgotten.
public struct NonceMemory: Sendable {
    /// What a nonce is known by.
    private struct Entry: Hashable {
        let deviceID: String
        let nonce: [UInt8]
    }

    private let capacity: Int
    private let capacityOfDevice: Int
    private var known: Set<Entry> = []
    private var countOfDevice: [String: Int] = [:]
    /// The entries by the second until which they must be kept.
    private var expiries: [Int64: [Entry]] = [:]
    /// Everything that expired before this second is forgotten.
    private var forgottenBefore: Int64?

    /// Creates an empty memory.
    ///
    /// - Parameters:
    ///   - capacity: The most nonces of all devices.
    ///   - capacityOfDevice: The most nonces of one device.
    public init(capacity: Int = 100_000, capacityOfDevice: Int = 600) {
        self.capacity = capacity
        self.capacityOfDevice = capacityOfDevice
    }

    /// The number of nonces held.
    public var count: Int { known.count }

    /// Takes the nonce of a request that was found valid.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: Whether the request may be answered: it is timely, its nonce is new and there was room for it.
    public mutating func accept(_ authorization: RequestAuthorization, now: Int64) -> Bool {
        guard authorization.isTimely(now: now) else { return false }
        forget(before: now)
        // Up to this second the same request would be timely. When the clock was set back, a nonce of that time may
        // be forgotten already.
        let expiry = authorization.timestamp + RequestAuthorization.largestSkew
        guard expiry >= forgottenBefore ?? now else { return false }
        let entry = Entry(deviceID: authorization.deviceID, nonce: authorization.nonce)
        let count = countOfDevice[entry.deviceID, default: 0]
        guard !known.contains(entry), count < capacityOfDevice, known.count < capacity else { return false }
        known.insert(entry)
        countOfDevice[entry.deviceID] = count + 1
        expiries[expiry, default: []].append(entry)
        return true
    }

    /// Forgets the nonces that expired before `now`, unless the clock was set back.
    private mutating func forget(before now: Int64) {
        guard let last = forgottenBefore else {
            forgottenBefore = now
            return
        }
        guard now > last else { return }
        forgottenBefore = now
        // Entries expire within twice the skew, so after a long pause there is no more to look at.
        let expired =
            now - last > 4 * RequestAuthorization.largestSkew
            ? expiries.keys.filter { $0 < now } : (last..<now).filter { expiries[$0] != nil }
        for second in expired {
            for entry in expiries.removeValue(forKey: second) ?? [] {
                known.remove(entry)
                let count = countOfDevice[entry.deviceID, default: 1] - 1
                countOfDevice[entry.deviceID] = count > 0 ? count : nil
            }
        }
    }
}
