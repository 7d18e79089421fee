// SPDX-License-Identifier: MIT

package import WireGuardProtocol

/// The destinations for which the kernel refused segmentation, and until when they get single datagrams.
///
/// A refusal depends on the route: its link is smaller than the datagrams, or its device cannot compute
/// checksums. Routes change, so each destination is tried again after ten minutes. The table has 256 places in
/// sets of four, and a full set gives up the place that is due first; then that destination is tried early,
/// which costs one refused call.
package struct SegmentationRefusals: ~Copyable {
    /// How long a destination gets single datagrams.
    package static let period = Interval.seconds(600)

    private static let setCount = 64
    private static let setSize = 4

    private struct Entry {
        var address: IPAddress
        var retryAt: Instant
    }

    private let entries: UnsafeMutablePointer<Entry?>
    /// The number of entries; the common case of none costs one comparison.
    private var count = 0

    /// An empty table.
    package init() {
        entries = .allocate(capacity: Self.setCount * Self.setSize)
        entries.initialize(repeating: nil, count: Self.setCount * Self.setSize)
    }

    /// Whether a destination gets single datagrams.
    package borrowing func holds(_ address: IPAddress, at now: Instant) -> Bool {
        guard count > 0, let index = find(address), let entry = entries[index] else { return false }
        return now < entry.retryAt
    }

    /// Notes that the kernel refused segmentation to a destination.
    ///
    /// - Returns: Whether the destination is new, and so worth a line in the log.
    package mutating func insert(_ address: IPAddress, at now: Instant) -> Bool {
        let entry = Entry(address: address, retryAt: now + Self.period)
        if let index = find(address) {
            entries[index] = entry
            return false
        }
        let range = Self.range(of: address)
        var victim = range.lowerBound
        for index in range {
            guard let other = entries[index] else {
                count += 1
                victim = index
                break
            }
            if let due = entries[victim]?.retryAt, other.retryAt < due { victim = index }
        }
        entries[victim] = entry
        return true
    }

    /// Notes that the kernel took segmented datagrams to a destination.
    package mutating func remove(_ address: IPAddress) {
        guard count > 0, let index = find(address) else { return }
        entries[index] = nil
        count -= 1
    }

    private borrowing func find(_ address: IPAddress) -> Int? {
        Self.range(of: address).first { entries[$0]?.address == address }
    }

    private static func range(of address: IPAddress) -> Range<Int> {
        // Fibonacci hashing; only configured peers get here, so an attacker has no say in the keys.
        let mixed = (address.high ^ address.low) &* 0x9E37_79B9_7F4A_7C15
        let start = Int(mixed >> 58) * setSize
        return start..<(start + setSize)
    }

    deinit {
        entries.deallocate()
    }
}
