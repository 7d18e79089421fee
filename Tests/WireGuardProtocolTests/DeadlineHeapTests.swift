// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardProtocol

@Suite("DeadlineHeap")
struct DeadlineHeapTests {
    @Test("the earliest deadline comes first, and a lower peer number before a higher at the same time")
    func order() {
        var heap = DeadlineHeap()
        heap.set(Instant(nanoseconds: 20), for: 5)
        heap.set(Instant(nanoseconds: 10), for: 9)
        heap.set(Instant(nanoseconds: 10), for: 2)
        var peers: [UInt32] = []
        while let first = heap.first {
            peers.append(first.peer)
            heap.removeFirst()
        }
        #expect(peers == [2, 9, 5])
    }

    @Test("a peer has one deadline, which moves both ways")
    func move() {
        var heap = DeadlineHeap()
        for peer: UInt32 in 0..<8 { heap.set(Instant(nanoseconds: 100 + Int64(peer)), for: peer) }
        heap.set(Instant(nanoseconds: 50), for: 7)
        let earlier = heap.first?.peer
        heap.set(Instant(nanoseconds: 50), for: 7)
        heap.set(Instant(nanoseconds: 500), for: 7)
        let later = heap.first?.peer
        let count = heap.count
        #expect(earlier == 7)
        #expect(later == 0)
        #expect(count == 8)
    }

    @Test("an empty heap has no first deadline, and removing from it does nothing")
    func empty() {
        var heap = DeadlineHeap()
        heap.removeFirst()
        heap.remove(3)
        heap.set(Instant(nanoseconds: -1), for: 3)
        heap.remove(4)
        let first = heap.first
        heap.remove(3)
        heap.remove(3)
        let isEmpty = heap.first == nil
        #expect(first?.deadline == Instant(nanoseconds: -1))
        #expect(first?.peer == 3)
        #expect(isEmpty)
    }

    @Test(
        "random changes leave the order of a sorted array", arguments: [UInt64(1), 2, 3, 4], [20, 1_000_000])
    func model(seed: UInt64, span: Int) {
        var random = SeededGenerator(seed: seed)
        var heap = DeadlineHeap()
        var deadlines: [UInt32: Int64] = [:]
        func earliest() -> (Int64, UInt32)? {
            deadlines.map { ($0.value, $0.key) }.min { $0 < $1 }
        }
        var mismatches = 0
        for step in 0..<6_000 {
            let peer = UInt32(random.below(60))
            switch random.below(10) {
            case 0..<7 where step / 1_000 % 2 == 0, 0..<4:
                let deadline = Int64(random.below(span)) - 10
                heap.set(Instant(nanoseconds: deadline), for: peer)
                deadlines[peer] = deadline
            case 4..<8:
                heap.remove(peer)
                deadlines[peer] = nil
            default:
                if let expected = earliest() { deadlines[expected.1] = nil }
                heap.removeFirst()
            }
            let expected = earliest()
            let first = heap.first
            if first?.peer != expected?.1 || first?.deadline.nanoseconds != expected?.0 { mismatches += 1 }
            if heap.count != deadlines.count { mismatches += 1 }
        }
        #expect(mismatches == 0, "seed \(seed), span \(span)")
    }

    @Test("24,000 deadlines leave in order", arguments: [UInt64(5)])
    func many(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heap = DeadlineHeap()
        var expected: [(Int64, UInt32)] = []
        for peer: UInt32 in 0..<24_000 {
            let deadline = Int64(random.below(5_000))
            heap.set(Instant(nanoseconds: deadline), for: peer)
            expected.append((deadline, peer))
        }
        expected.sort { $0 < $1 }
        var mismatches = 0
        for (deadline, peer) in expected {
            if heap.first?.peer != peer || heap.first?.deadline.nanoseconds != deadline { mismatches += 1 }
            heap.removeFirst()
        }
        let isEmpty = heap.first == nil
        #expect(mismatches == 0, "seed \(seed)")
        #expect(isEmpty)
    }
}
