// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardCrypto
import WireGuardProtocol

@Suite("IndexTable")
struct IndexTableTests {
    /// How the random source of a model test draws indices.
    enum Draw: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case uniform
        case fewValues
        case lastSlots

        var testDescription: String { rawValue }

        var shape: @Sendable (UInt32) -> UInt32 {
            switch self {
            case .uniform: { $0 }
            case .fewValues: { $0 & 0xFFF }
            // Every index asks for one of the last eight slots, so runs are long and go around the end.
            case .lastSlots: { $0 | 0x000F_FFF8 }
            }
        }
    }

    @Test(
        "random changes leave what a dictionary holds", arguments: Draw.allCases, [UInt64(1), 2, 3])
    func model(draw: Draw, seed: UInt64) {
        let source = ModelRandomSource(seed: seed, shape: draw.shape)
        var random = SeededGenerator(seed: seed)
        var table = IndexTable()
        var model: [UInt32: IndexTable.Entry] = [:]
        var indices: [UInt32] = []
        var mismatches = 0
        for step in 0..<12_000 {
            // Grows first, then shrinks, twice.
            let isGrowing = step / 3_000 % 2 == 0
            let action = random.below(10)
            if indices.isEmpty || (action < (isGrowing ? 5 : 2) && indices.count < 900) {
                let entry = IndexTable.Entry(
                    peer: UInt32(truncatingIfNeeded: random.next()), kind: UInt8(random.below(3)))
                let index = table.insertNew(entry, random: source)
                if model.updateValue(entry, forKey: index) != nil { mismatches += 1 }
                indices.append(index)
            } else if action < 7 {
                let place = random.below(indices.count)
                let index = indices[place]
                indices[place] = indices[indices.count - 1]
                indices.removeLast()
                table.remove(index)
                model[index] = nil
            } else if action == 7 {
                let index = indices[random.below(indices.count)]
                table.setKind(9, for: index)
                model[index]?.kind = 9
            } else if action == 8 {
                let index = indices[random.below(indices.count)]
                let entry = IndexTable.Entry(peer: UInt32(step), kind: 2)
                table.update(index, entry)
                model[index] = entry
            } else {
                let unknown = draw.shape(UInt32(truncatingIfNeeded: random.next()))
                if table.entry(for: unknown) != model[unknown] { mismatches += 1 }
                if model[unknown] == nil {
                    table.remove(unknown)
                    table.setKind(7, for: unknown)
                    table.update(unknown, IndexTable.Entry(peer: 7, kind: 7))
                }
            }
            if table.count != model.count { mismatches += 1 }
            if step % 500 == 0 {
                for (index, entry) in model where table.entry(for: index) != entry { mismatches += 1 }
            }
        }
        #expect(mismatches == 0, "seed \(seed)")
        for index in indices { table.remove(index) }
        let left = indices.filter { table.entry(for: $0) != nil }
        let count = table.count
        #expect(left.isEmpty, "seed \(seed)")
        #expect(count == 0, "seed \(seed)")
    }

    @Test("an index comes from the random source and is not one in use")
    func drawsUnused() {
        // The source gives 0, 1, 2, 3 over and over, in the order of its seed.
        let source = ModelRandomSource(seed: 4) { $0 & 3 }
        var table = IndexTable()
        let indices = (0..<4).map { table.insertNew(.init(peer: UInt32($0), kind: 1), random: source) }
        let peers = indices.map { table.entry(for: $0)?.peer }
        #expect(Set(indices) == [0, 1, 2, 3])
        #expect(peers == [0, 1, 2, 3])
    }

    @Test("a freed index can be drawn again and has its new meaning")
    func reuse() {
        let source = ModelRandomSource(seed: 1) { _ in 77 }
        var table = IndexTable()
        let first = table.insertNew(.init(peer: 1, kind: 1), random: source)
        table.remove(first)
        let gone = table.entry(for: 77)
        let second = table.insertNew(.init(peer: 2, kind: 2), random: source)
        let entry = table.entry(for: 77)
        #expect(first == 77)
        #expect(second == 77)
        #expect(gone == nil)
        #expect(entry == .init(peer: 2, kind: 2))
    }

    @Test("100,000 indices are all found, and none that was not drawn")
    func many() {
        let source = ModelRandomSource(seed: 10)
        var table = IndexTable()
        let indices = (0..<100_000).map { table.insertNew(.init(peer: UInt32($0), kind: 2), random: source) }
        var wrong = 0
        for (peer, index) in indices.enumerated() where table.entry(for: index)?.peer != UInt32(peer) {
            wrong += 1
        }
        let drawn = Set(indices)
        var random = SeededGenerator(seed: 11)
        for _ in 0..<100_000 {
            let index = UInt32(truncatingIfNeeded: random.next())
            if (table.entry(for: index) != nil) != drawn.contains(index) { wrong += 1 }
        }
        let count = table.count
        #expect(drawn.count == 100_000)
        #expect(count == 100_000)
        #expect(wrong == 0)
    }
}
