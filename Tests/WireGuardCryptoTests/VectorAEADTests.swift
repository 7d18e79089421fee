// SPDX-License-Identifier: MIT

import AEADComparison
import Foundation
import Harness
import Testing
import WireGuardCrypto

@Suite("AEAD implementations")
struct VectorAEADTests {
    typealias Packet = AEADSlab.Packet

    /// Those that this processor has, but libsodium's own, with which they are compared.
    static let compared = AEADImplementation.allCases.filter { $0.isAvailable && $0 != .libsodium }

    /// Four random keys, 32 bytes each, as addresses that stay valid for the length of the call.
    private func withKeys<Result>(
        _ random: inout SeededGenerator, _ body: (UnsafeRawPointer, inout SeededGenerator) -> Result
    ) -> Result {
        let keys = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 8)
        defer { keys.deallocate() }
        keys.copyMemory(from: random.bytes(128), byteCount: 128)
        return body(keys, &random)
    }

    @Test("each length from 0 to 2,048, at odd addresses, gives what libsodium gives", arguments: compared)
    func everyLength(_ implementation: AEADImplementation) {
        var random = SeededGenerator(seed: 101)
        withKeys(&random) { keys, random in
            for byteCount in 0...2_048 {
                let packet = Packet(key: byteCount % 4, counter: random.next(), byteCount: byteCount)
                let failure = AEADSlab.difference(
                    [packet], implementation, shift: byteCount * 7 % 64, keys: keys, &random)
                #expect(failure == nil, "\(byteCount) bytes, seed 101")
            }
        }
    }

    @Test(
        "batches mixed of lengths, keys and counters give what libsodium gives",
        arguments: compared, UInt64(201)...206)
    func mixedBatches(_ implementation: AEADImplementation, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        withKeys(&random) { keys, random in
            for round in 0..<8 {
                // Small packets put many of them into one step of the vectors, one key or several.
                let most = [UInt64(1), 40, 200, 1_500][round % 4]
                let keyCount = UInt64(round < 4 ? 4 : 1)
                let packets = (0..<Int(1 + random.next() % 64)).map { _ in
                    Packet(
                        key: Int(random.next() % keyCount), counter: random.next(),
                        byteCount: Int(random.next() % (most + 1)))
                }
                let shift = Int(random.next() % 64)
                let failure = AEADSlab.difference(packets, implementation, shift: shift, keys: keys, &random)
                #expect(failure == nil, "seed \(seed), round \(round)")
            }
        }
    }

    @Test("as many packets of one size as a batch holds, from keepalives on", arguments: compared)
    func fullBatches(_ implementation: AEADImplementation) {
        var random = SeededGenerator(seed: 302)
        withKeys(&random) { keys, random in
            // One block of key stream each, two, and sizes around those that Poly1305 takes at once.
            for byteCount in [0, 1, 64, 111, 112, 113, 128, 239, 240, 241, 368] {
                for count in [7, 8, 9, 16, 17, 31, 32, 33, 128] {
                    let packets = (0..<count).map {
                        Packet(key: $0 % 2, counter: UInt64($0), byteCount: byteCount)
                    }
                    let failure = AEADSlab.difference(packets, implementation, shift: 5, keys: keys, &random)
                    #expect(failure == nil, "\(count) packets of \(byteCount) bytes")
                }
            }
        }
    }

    @Test("a packet of 65,472 bytes, alone and between small ones", arguments: compared)
    func largest(_ implementation: AEADImplementation) {
        var random = SeededGenerator(seed: 301)
        withKeys(&random) { keys, random in
            let large = Packet(key: 1, counter: 7, byteCount: 65_472)
            let small = Packet(key: 2, counter: 8, byteCount: 33)
            for (packets, shift) in [([large], 0), ([small, large, small], 3)] {
                let failure = AEADSlab.difference(packets, implementation, shift: shift, keys: keys, &random)
                #expect(failure == nil)
            }
        }
    }

    @Test("counters around 2^32 and at both ends of 64 bits", arguments: compared)
    func counters(_ implementation: AEADImplementation) {
        var random = SeededGenerator(seed: 401)
        let edge = UInt64(1) << 32
        let counters = [0, 1, edge - 2, edge - 1, edge, edge + 1, 1 << 63, .max - 1, .max]
        withKeys(&random) { keys, random in
            let packets = counters.map { Packet(key: 0, counter: $0, byteCount: 150) }
            for (packets, shift) in [(packets, 0)] + packets.map({ ([$0], 5) }) {
                let failure = AEADSlab.difference(packets, implementation, shift: shift, keys: keys, &random)
                #expect(failure == nil)
            }
        }
    }

    @Test("ciphertexts of only ones, the largest blocks for Poly1305", arguments: compared)
    func onlyOnes(_ implementation: AEADImplementation) {
        var random = SeededGenerator(seed: 501)
        withKeys(&random) { keys, random in
            let packets = stride(from: 16, through: 1_600, by: 16).map { byteCount in
                Packet(key: byteCount / 16 % 4, counter: random.next(), byteCount: byteCount)
            }
            // Sealed zeros are the key stream; its complement is sealed to ones.
            let plain = AEADSlab(packets, shift: 0)
            for packet in plain.packets { memset(plain.start + packet.offset, 0, packet.byteCount) }
            plain.seal(.libsodium, keys: keys)
            for packet in plain.packets {
                for offset in packet.offset..<(packet.offset + packet.byteCount) {
                    let byte = plain.start.load(fromByteOffset: offset, as: UInt8.self)
                    plain.start.storeBytes(of: ~byte, toByteOffset: offset, as: UInt8.self)
                }
            }
            let expected = AEADSlab(copying: plain)
            expected.seal(.libsodium, keys: keys)
            let first = expected.packets[0]
            let ciphertext = UnsafeRawBufferPointer(
                start: expected.start + first.offset, count: first.byteCount)
            #expect(ciphertext.allSatisfy { $0 == 0xFF })
            plain.seal(implementation, keys: keys)
            #expect(plain.differences(from: expected, extra: 16) == [], "seed 501")
        }
    }

    @Test("one flipped bit at any byte of ciphertext or tag refuses that packet only", arguments: compared)
    func tampering(_ implementation: AEADImplementation) {
        var random = SeededGenerator(seed: 601)
        withKeys(&random) { keys, random in
            for byteCount in [0, 5, 64, 250] {
                // One packet for each byte to flip, and a whole one behind each.
                let packets = (0..<(2 * (byteCount + 16))).map {
                    Packet(key: $0 % 3, counter: UInt64($0), byteCount: byteCount)
                }
                let slab = AEADSlab(packets, shift: 0)
                slab.fill(&random)
                slab.seal(.libsodium, keys: keys)
                for byte in 0..<(byteCount + 16) {
                    let place = slab.start + slab.packets[2 * byte].offset + byte
                    let flipped = place.load(as: UInt8.self) ^ 1 << UInt8(random.next() % 8)
                    place.storeBytes(of: flipped, as: UInt8.self)
                }
                let opened = AEADSlab(packets, shift: 0)
                let isAuthentic = slab.open(implementation, into: opened, keys: keys)
                #expect(isAuthentic == packets.indices.map { $0 % 2 == 1 }, "\(byteCount) bytes, seed 601")
            }
        }
    }
}
