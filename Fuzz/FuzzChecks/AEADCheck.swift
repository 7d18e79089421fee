// SPDX-License-Identifier: MIT

internal import AEADComparison
internal import WireGuardCrypto
internal import WireGuardSimulation

/// Batches of packets of 0 to 2,048 bytes, sealed and opened by every implementation that this processor has.
///
/// The input is a shift and a seed for contents and keys, then for each packet its size, a byte of choices and a
/// place to break.
enum AEADCheck {
    private static let implementations = AEADImplementation.allCases.filter {
        $0 != .libsodium && $0.isAvailable
    }
    private static let largestBatch = 96
    private static let keyCount = 4

    /// A packet, and what else is to be done to it.
    private struct Plan {
        var packet: AEADSlab.Packet
        /// The byte that its content consists of; `nil` for random content.
        var content: UInt8?
        /// The bit to flip once it is sealed, if any.
        var brokenBit: Int?
    }

    static func failure(_ reader: inout ByteReader) -> String? {
        let shift = reader.number(below: 64)
        var random = SeededRandom(seed: reader.longWord())
        var keys = [UInt8](repeating: 0, count: 32 * keyCount)
        keys.withUnsafeMutableBytes { random.fill($0) }
        var plans: [Plan] = []
        while !reader.isAtEnd, plans.count < largestBatch { plans.append(plan(&reader, &random)) }
        guard !plans.isEmpty else { return nil }

        let plain = AEADSlab(plans.map(\.packet), shift: shift)
        plain.fill(&random)
        for (packet, plan) in zip(plain.packets, plans) {
            guard let content = plan.content else { continue }
            (plain.start + packet.offset)
                .initializeMemory(as: UInt8.self, repeating: content, count: packet.byteCount)
        }
        return keys.withUnsafeBytes { keys in
            guard let keys = keys.baseAddress else { return nil }
            for implementation in implementations {
                if let difference = plain.difference(implementation, keys: keys) {
                    return "\(implementation.rawValue): \(difference)"
                }
                if let failure = openBroken(plans, plain, implementation, keys) {
                    return "\(implementation.rawValue): \(failure)"
                }
            }
            return nil
        }
    }

    private static func plan(_ reader: inout ByteReader, _ random: inout SeededRandom) -> Plan {
        let byteCount = reader.number(below: 2_049)
        let choices = reader.byte()
        let counter: UInt64 =
            switch choices >> 2 & 3 {
            case 0: random.next()
            case 1: random.next() % 16
            case 2: (1 << 32) &- 8 &+ random.next() % 16
            default: UInt64.max - random.next() % 16
            }
        let bit = reader.word()
        return Plan(
            packet: .init(key: Int(choices & 3), counter: counter, byteCount: byteCount),
            content: choices >> 4 & 3 == 0 ? choices >> 6 & 1 == 0 ? 0 : 0xFF : nil,
            brokenBit: choices >> 7 == 0 ? nil : bit % (8 * (byteCount + 16)))
    }

    /// Flips one bit in some packets; those must be refused, and the others opened as if nothing was.
    private static func openBroken(
        _ plans: [Plan], _ plain: AEADSlab, _ implementation: AEADImplementation, _ keys: UnsafeRawPointer
    ) -> String? {
        guard plans.contains(where: { $0.brokenBit != nil }) else { return nil }
        let sealed = AEADSlab(copying: plain)
        sealed.seal(.libsodium, keys: keys)
        for (packet, plan) in zip(sealed.packets, plans) {
            guard let bit = plan.brokenBit else { continue }
            let place = sealed.start + packet.offset + bit / 8
            place.storeBytes(of: place.load(as: UInt8.self) ^ 1 << UInt8(bit % 8), as: UInt8.self)
        }
        let opened = AEADSlab(sealed.packets, shift: 0)
        let isAuthentic = sealed.open(implementation, into: opened, keys: keys)
        for (number, plan) in plans.enumerated() where isAuthentic[number] != (plan.brokenBit == nil) {
            return "packet \(number) is "
                + (isAuthentic[number] ? "taken though broken" : "refused though whole")
        }
        let wrong = opened.differences(from: plain, extra: 0).filter { plans[$0].brokenBit == nil }
        return wrong.isEmpty ? nil : "packets \(wrong) are opened otherwise next to broken ones"
    }
}
