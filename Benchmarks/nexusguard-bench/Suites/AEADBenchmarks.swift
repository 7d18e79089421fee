// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

/// Sealing and opening of transport data, alone and in batches; the time is that of one packet.
enum AEADBenchmarks {
    static let all = AEADImplementation.allCases.filter(\.isAvailable).flatMap { implementation in
        [64, 512, 1_420, 16_384].flatMap { byteCount in
            [1, batchCount].flatMap { count in
                [true, false].map { make(implementation, byteCount, count, seals: $0) }
            }
        }
    }

    /// The packets that one UDP datagram train holds.
    private static let batchCount = 45

    private static func make(
        _ implementation: AEADImplementation, _ byteCount: Int, _ packetCount: Int, seals: Bool
    ) -> Benchmark {
        let size = packetCount == 1 ? "\(byteCount)" : "\(byteCount)x\(packetCount)"
        let name = "aead.\(implementation.rawValue).\(seals ? "seal" : "open").\(size)"
        return Benchmark(name, operationsPerCall: packetCount, byteCount: byteCount) {
            let key = PresharedKey(SecretKey(randomFrom: SystemRandomSource()))
            let jobs = jobs(packetCount, byteCount, key)
            if seals {
                return { count in
                    // The key's bytes are erased with it.
                    withExtendedLifetime(key) {
                        for _ in 0..<count { PacketAEAD.seal(jobs, using: implementation) }
                    }
                }
            }
            PacketAEAD.seal(jobs, using: implementation)
            // Opening is out of place: the plaintext goes to a second slab.
            let distance = packetCount * footprint(byteCount)
            for index in jobs.indices { jobs[index].destination += distance }
            return { count in
                withExtendedLifetime(key) {
                    for _ in 0..<count { PacketAEAD.open(jobs, using: implementation) }
                }
                precondition(jobs.allSatisfy(\.isAuthentic), "what was sealed can be opened")
            }
        }
    }

    /// The bytes of one packet and the room around it.
    private static func footprint(_ byteCount: Int) -> Int {
        (PacketAEAD.headroom + byteCount + 16 + PacketAEAD.tailroom + 63) & ~63
    }

    /// Jobs in a slab that has as much room again behind them; both stay allocated to the end of the programme.
    private static func jobs(
        _ packetCount: Int, _ byteCount: Int, _ key: PresharedKey
    ) -> UnsafeMutableBufferPointer<PacketAEADJob> {
        let footprint = footprint(byteCount)
        let slabByteCount = 2 * packetCount * footprint
        let slab = UnsafeMutableRawPointer.allocate(byteCount: slabByteCount, alignment: 64)
        slab.initializeMemory(as: UInt8.self, repeating: 0x5A, count: slabByteCount)
        let jobs = UnsafeMutableBufferPointer<PacketAEADJob>.allocate(capacity: packetCount)
        for index in 0..<packetCount {
            let start = slab + index * footprint + PacketAEAD.headroom
            let address = key.withSecret { UnsafeRawPointer($0.pointer) }
            jobs.initializeElement(
                at: index,
                to: PacketAEADJob(
                    key: address, source: UnsafeRawPointer(start), destination: start,
                    counter: UInt64(index), byteCount: byteCount))
        }
        return jobs
    }
}
