// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardCrypto

@Suite("PacketAEAD")
struct PacketAEADTests {
    /// The parts of `transport.json` that concern encryption.
    struct Content: Decodable {
        struct Packet: Decodable {
            let key: HexBytes
            let counter: Decimal64
            let padded_plaintext: HexBytes
            let packet: HexBytes
        }
        let packets: [Packet]
    }

    /// One packet of a batch, with the room that `PacketAEAD` needs around it, filled with a pattern.
    final class Slot {
        let key: [UInt8]
        let counter: UInt64
        let byteCount: Int
        let room: UnsafeMutableRawPointer
        let size: Int
        private let keyCopy: UnsafeMutableRawBufferPointer

        init(key: [UInt8], counter: UInt64, content: [UInt8], byteCount: Int) {
            self.key = key
            self.counter = counter
            self.byteCount = byteCount
            size = PacketAEAD.headroom + byteCount + PacketAEAD.tailroom
            room = .allocate(byteCount: size, alignment: 16)
            room.initializeMemory(as: UInt8.self, repeating: 0xA5, count: size)
            let keyCopy = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
            keyCopy.copyBytes(from: key)
            self.keyCopy = keyCopy
            UnsafeMutableRawBufferPointer(start: room + PacketAEAD.headroom, count: byteCount + 16)
                .copyBytes(from: content)
        }

        deinit {
            room.deallocate()
            keyCopy.deallocate()
        }

        func bytes(_ count: Int) -> [UInt8] {
            Array(UnsafeRawBufferPointer(start: room + PacketAEAD.headroom, count: count))
        }

        func job(into destination: Slot) -> PacketAEADJob {
            PacketAEADJob(
                key: UnsafeRawPointer(keyCopy.baseAddress ?? room), source: room + PacketAEAD.headroom,
                destination: destination.room + PacketAEAD.headroom, counter: counter, byteCount: byteCount)
        }
    }

    /// What libsodium's plain AEAD gives.
    private func reference(_ plaintext: [UInt8], _ key: [UInt8], _ counter: UInt64) -> [UInt8] {
        filled(plaintext.count + 16) {
            ChaCha20Poly1305.seal(
                plaintext.span.bytes, key: SecretKey(key), counter: counter, associatedData: RawSpan(),
                into: &$0)
        }.bytes
    }

    /// Seals a batch in place and gives ciphertext and tag of each packet.
    private func seal(_ slots: [Slot]) -> [[UInt8]] {
        var jobs = slots.map { $0.job(into: $0) }
        jobs.withUnsafeMutableBufferPointer { PacketAEAD.seal($0) }
        return slots.map { $0.bytes($0.byteCount + 16) }
    }

    /// Opens a batch out of place and gives the plaintext of each authentic packet.
    private func open(_ slots: [Slot]) -> [[UInt8]?] {
        let targets = slots.map { Slot(key: $0.key, counter: 0, content: [], byteCount: $0.byteCount) }
        var jobs = zip(slots, targets).map { $0.job(into: $1) }
        jobs.withUnsafeMutableBufferPointer { PacketAEAD.open($0) }
        return zip(jobs, targets).map { $0.isAuthentic ? $1.bytes($0.byteCount) : nil }
    }

    @Test("each length from 0 to 2,048 equals libsodium's AEAD and opens again", arguments: [UInt64(11), 12])
    func everyLength(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for byteCount in 0...2_048 {
            let plaintext = random.bytes(byteCount)
            let key = random.bytes(32)
            let counter = random.next()
            let expected = reference(plaintext, key, counter)
            let sealed = seal([Slot(key: key, counter: counter, content: plaintext, byteCount: byteCount)])
            let place = Comment("seed \(seed), \(byteCount) bytes")
            #expect(sealed == [expected], place)
            let slot = Slot(key: key, counter: counter, content: expected, byteCount: byteCount)
            #expect(open([slot]) == [plaintext], place)
        }
    }

    @Test("batches mixed of lengths and keys give each packet its own result", arguments: UInt64(21)...28)
    func mixedBatches(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = 1 + Int(random.next() % 128)
        let keys = (0..<3).map { _ in random.bytes(32) }
        let plaintexts = (0..<count).map { _ in random.bytes(Int(random.next() % 1_600)) }
        let slots = plaintexts.enumerated().map { index, plaintext in
            Slot(
                key: keys[index % 3], counter: UInt64(index), content: plaintext, byteCount: plaintext.count)
        }
        let sealed = seal(slots)
        for (index, plaintext) in plaintexts.enumerated() {
            #expect(
                sealed[index] == reference(plaintext, keys[index % 3], UInt64(index)),
                "seed \(seed), \(index)")
        }
        let damaged = Set((0..<count).filter { _ in random.next() % 3 == 0 })
        let received = plaintexts.indices.map { index in
            var bytes = sealed[index]
            if damaged.contains(index) { bytes[Int(random.next() % UInt64(bytes.count))] ^= 4 }
            return Slot(
                key: keys[index % 3], counter: UInt64(index), content: bytes,
                byteCount: plaintexts[index].count)
        }
        let opened = open(received)
        for (index, plaintext) in plaintexts.enumerated() {
            #expect(opened[index] == (damaged.contains(index) ? nil : plaintext), "seed \(seed), \(index)")
        }
    }

    @Test("each flipped bit of ciphertext or tag is refused, and so is another key or counter")
    func tampering() {
        var random = SeededGenerator(seed: 31)
        let key = random.bytes(32)
        for byteCount in [0, 1, 16, 47] {
            let sealed = reference(random.bytes(byteCount), key, 5)
            let slots = (0..<(8 * sealed.count)).map { bit in
                var changed = sealed
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                return Slot(key: key, counter: 5, content: changed, byteCount: byteCount)
            }
            #expect(open(slots).allSatisfy { $0 == nil }, "\(byteCount) bytes")
            var otherKey = key
            otherKey[31] ^= 0x80
            let others = [
                Slot(key: otherKey, counter: 5, content: sealed, byteCount: byteCount),
                Slot(key: key, counter: 4, content: sealed, byteCount: byteCount),
                Slot(key: key, counter: 5 | 1 << 63, content: sealed, byteCount: byteCount),
            ]
            #expect(open(others) == [nil, nil, nil])
        }
    }

    @Test("the transport vectors come out behind their headers")
    func vectors() throws {
        let packets = try Fixture.load("vectors/transport.json", as: Content.self).packets
        let slots = packets.map {
            Slot(
                key: $0.key.bytes, counter: $0.counter.value, content: $0.padded_plaintext.bytes,
                byteCount: $0.padded_plaintext.bytes.count)
        }
        #expect(seal(slots) == packets.map { Array($0.packet.bytes.dropFirst(16)) })
        let received = packets.map {
            Slot(
                key: $0.key.bytes, counter: $0.counter.value, content: Array($0.packet.bytes.dropFirst(16)),
                byteCount: $0.padded_plaintext.bytes.count)
        }
        #expect(open(received) == packets.map { $0.padded_plaintext.bytes })
    }

    @Test("no more than the stated room is written, and opening leaves the ciphertext as it was")
    func room() {
        var random = SeededGenerator(seed: 41)
        for byteCount in [0, 1, 255, 256, 257, 1_420] {
            let plaintext = random.bytes(byteCount)
            let key = random.bytes(32)
            let sealed = reference(plaintext, key, 9)
            // Neighbours in one slab: what lies outside the room must stay.
            let size = 1_024 + PacketAEAD.headroom + byteCount + PacketAEAD.tailroom + 1_024
            var slab = [UInt8](repeating: 0x5A, count: size)
            let source = Slot(key: key, counter: 9, content: sealed, byteCount: byteCount)
            let before = Array(UnsafeRawBufferPointer(start: source.room, count: source.size))
            slab.withUnsafeMutableBytes { slab in
                guard let start = slab.baseAddress else { return }
                var job = source.job(into: source)
                job.destination = start + 1_024 + PacketAEAD.headroom
                withUnsafeMutablePointer(to: &job) {
                    PacketAEAD.open(UnsafeMutableBufferPointer(start: $0, count: 1))
                }
                #expect(job.isAuthentic)
            }
            #expect(slab.prefix(1_024).allSatisfy { $0 == 0x5A })
            #expect(slab.suffix(1_024).allSatisfy { $0 == 0x5A })
            #expect(Array(slab[(1_024 + PacketAEAD.headroom)...].prefix(byteCount)) == plaintext)
            #expect(Array(UnsafeRawBufferPointer(start: source.room, count: source.size)) == before)
        }
    }
}
