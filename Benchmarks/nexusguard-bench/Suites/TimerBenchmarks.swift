// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

/// The deadlines of very many peers.
enum TimerBenchmarks {
    static let all = [
        Benchmark("timers.heap-move.\(peerCount)") {
            var heap = filledHeap()
            let random = SeededRandom(seed: 2)
            return { count in
                for _ in 0..<count {
                    let word = random.next()
                    let peer = UInt32(truncatingIfNeeded: word >> 32) % UInt32(peerCount)
                    heap.set(Instant(nanoseconds: Int64(word & 0xFFFF_FFFF)), for: peer)
                }
            }
        },
        Benchmark("timers.heap-next.\(peerCount)") {
            var heap = filledHeap()
            return { count in
                for _ in 0..<count {
                    guard let first = heap.first else { return }
                    heap.set(first.deadline + .seconds(1), for: first.peer)
                }
            }
        },
        Benchmark("timers.expire.\(peerCount)", operationsPerCall: peerCount) { expire },
    ]

    /// The number of peers.
    private static let peerCount = 100_000

    private static func filledHeap() -> DeadlineHeap {
        var heap = DeadlineHeap()
        let random = SeededRandom(seed: 1)
        for peer in 0..<UInt32(peerCount) {
            heap.set(Instant(nanoseconds: Int64(random.next() & 0xFFFF_FFFF)), for: peer)
        }
        return heap
    }

    /// Peers whose persistent keepalives are all due at once; without endpoints nothing is sent.
    private static var expire: (Int) -> Void {
        let random = SeededRandom(seed: 3)
        var outbox = Outbox()
        var now = Instant(nanoseconds: 0)
        var device = Device(
            random: random, wallClock: { WallTime(seconds: 0, nanoseconds: 0) }, mtu: 1_420)
        var change = ConfigurationChange()
        change.peers = (0..<peerCount).map { _ in
            var peer = PeerChange(publicKey: RandomPeers.publicKey(random))
            peer.persistentKeepalive = 25
            return peer
        }
        device.apply(change, at: now, into: &outbox)
        device.setUp(true, at: now, into: &outbox)
        return { count in
            for _ in 0..<count {
                now = now + .seconds(25)
                device.expireTimers(at: now, into: &outbox)
            }
        }
    }
}
