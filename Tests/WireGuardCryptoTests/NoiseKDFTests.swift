// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardCrypto

@Suite("NoiseKDF")
struct NoiseKDFTests {
    /// The parts of `hash.json` that concern key derivation.
    struct Content: Decodable {
        struct HMAC: Decodable {
            let key: HexBytes
            let input: HexBytes
            let output: HexBytes
        }
        struct KDF: Decodable {
            let key: HexBytes
            let input: HexBytes
            let n: Int
            let outputs: [HexBytes]
        }
        let hmac_blake2s: [HMAC]
        let kdf: [KDF]
    }

    @Test("HMAC vectors come out, also with the input in two parts and with keys longer than a block")
    func hmac() throws {
        let vectors = try Fixture.load("vectors/hash.json", as: Content.self).hmac_blake2s
        #expect(vectors.contains { $0.key.bytes.count > 64 })
        for vector in vectors {
            let input = vector.input.bytes
            for cut in Set([0, input.count / 2, input.count]) {
                let first = Array(input[..<cut])
                let second = Array(input[cut...])
                let output = filled(32) {
                    NoiseKDF.hmac(
                        key: vector.key.bytes.span.bytes, first.span.bytes, second.span.bytes, into: &$0)
                }
                #expect(output.bytes == vector.output.bytes)
            }
        }
    }

    @Test("one, two and three outputs come out, the first replacing the chaining key")
    func kdf() throws {
        let vectors = try Fixture.load("vectors/hash.json", as: Content.self).kdf
        #expect(Set(vectors.map(\.n)) == [1, 2, 3])
        for vector in vectors {
            var chainingKey = SecretKey(vector.key.bytes)
            var outputs: [[UInt8]] = []
            switch vector.n {
            case 1:
                NoiseKDF.derive(vector.input.bytes.span.bytes, updating: &chainingKey)
            case 2:
                let key = NoiseKDF.deriveKey(vector.input.bytes.span.bytes, updating: &chainingKey)
                outputs = [key.array]
            default:
                var second = SecretKey()
                let third = NoiseKDF.deriveKey(
                    vector.input.bytes.span.bytes, updating: &chainingKey, second: &second)
                outputs = [second.array, third.array]
            }
            #expect([chainingKey.array] + outputs == vector.outputs.map(\.bytes))
        }
    }
}
