// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardCrypto

@Suite("BLAKE2s")
struct BLAKE2sTests {
    /// The parts of `hash.json` that concern the hash itself.
    struct Content: Decodable {
        struct Plain: Decodable {
            let input: HexBytes
            let output: HexBytes
        }
        struct Keyed: Decodable {
            let key: HexBytes
            let input: HexBytes
            let output_length: Int
            let output: HexBytes
        }
        let blake2s: [Plain]
        let blake2s_keyed: [Keyed]
    }

    /// Hashes in pieces of `pieceByteCount` bytes.
    private func hash(_ state: consuming BLAKE2s, _ input: [UInt8], pieceByteCount: Int) -> [UInt8] {
        var rest = input[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieceByteCount))
            rest = rest.dropFirst(pieceByteCount)
            state.update(piece.span.bytes)
        }
        return filled(state.outputByteCount) { state.finalize(into: &$0) }.bytes
    }

    @Test("the example of RFC 7693 appendix B comes out")
    func publishedExample() {
        let expected: HexBytes = "508C5E8C327C14E2E1A72BA34EEB452F37458B209ED63A294D999B4C86675982"
        #expect(hash(BLAKE2s(), Array("abc".utf8), pieceByteCount: 3) == expected.bytes)
    }

    @Test(
        "the self-test of RFC 7693 appendix E comes out: lengths, keys and output sizes in one hash of hashes"
    )
    func publishedSelfTest() {
        func sequence(_ count: Int, seed: UInt32) -> [UInt8] {
            var first = 0xDEAD_4BAD &* seed
            var second: UInt32 = 1
            return (0..<count).map { _ in
                let next = first &+ second
                first = second
                second = next
                return UInt8(next >> 24)
            }
        }
        var all: [UInt8] = []
        for outputByteCount in [16, 20, 28, 32] {
            for inputByteCount in [0, 3, 64, 65, 255, 1_024] {
                let input = sequence(inputByteCount, seed: UInt32(inputByteCount))
                all += hash(BLAKE2s(outputByteCount: outputByteCount), input, pieceByteCount: 1_024)
                let key = sequence(outputByteCount, seed: UInt32(outputByteCount))
                all += hash(
                    BLAKE2s(key: key.span.bytes, outputByteCount: outputByteCount), input,
                    pieceByteCount: 1_024)
            }
        }
        let expected: HexBytes = "6A411F08CE25ADCDFB02ABA641451CEC53C598B24F4FC787FBDC88797F4C1DFE"
        #expect(hash(BLAKE2s(), all, pieceByteCount: 1_000) == expected.bytes)
    }

    @Test("unkeyed vectors come out, whatever the pieces", arguments: [1, 3, 63, 64, 65, 128, 4_096])
    func plainVectors(pieceByteCount: Int) throws {
        for vector in try Fixture.load("vectors/hash.json", as: Content.self).blake2s {
            #expect(
                hash(BLAKE2s(), vector.input.bytes, pieceByteCount: pieceByteCount) == vector.output.bytes)
        }
    }

    @Test("keyed vectors come out, whatever the pieces", arguments: [1, 3, 63, 64, 65, 128, 4_096])
    func keyedVectors(pieceByteCount: Int) throws {
        for vector in try Fixture.load("vectors/hash.json", as: Content.self).blake2s_keyed {
            let state = BLAKE2s(key: vector.key.bytes.span.bytes, outputByteCount: vector.output_length)
            #expect(hash(state, vector.input.bytes, pieceByteCount: pieceByteCount) == vector.output.bytes)
        }
    }

    @Test("a kept state after the key block gives the same code for every message")
    func keptState() throws {
        for vector in try Fixture.load("vectors/hash.json", as: Content.self).blake2s_keyed
        where !vector.input.bytes.isEmpty {
            var kept = BLAKE2s(key: vector.key.bytes.span.bytes, outputByteCount: vector.output_length)
            kept.compressKeyBlock()
            for _ in 0..<2 {
                #expect(hash(kept, vector.input.bytes, pieceByteCount: 4_096) == vector.output.bytes)
            }
        }
    }

    @Test("hashing two spans equals hashing their concatenation")
    func twoSpans() {
        var random = SeededGenerator(seed: 1)
        for (first, second) in [(0, 0), (32, 0), (0, 32), (32, 32), (32, 48), (64, 64), (1, 127)] {
            let left = random.bytes(first)
            let right = random.bytes(second)
            let joined = filled(32) { BLAKE2s.hash((left + right).span.bytes, into: &$0) }.bytes
            #expect(filled(32) { BLAKE2s.hash(left.span.bytes, right.span.bytes, into: &$0) }.bytes == joined)
        }
    }
}
