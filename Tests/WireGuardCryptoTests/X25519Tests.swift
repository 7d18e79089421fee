// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardCrypto

@Suite("X25519")
struct X25519Tests {
    /// The parts of `primitives.json` that concern the curve.
    struct Content: Decodable {
        struct Exchange: Decodable {
            let `private`: HexBytes
            let clamped_private: HexBytes
            let `public`: HexBytes
            let peer_public: HexBytes
            let shared: HexBytes
        }
        struct LowOrder: Decodable {
            let `private`: HexBytes
            let peer_public: HexBytes
        }
        let x25519: [Exchange]
        let x25519_low_order: [LowOrder]
    }

    /// The bytes of the shared secret, or `nil` when it was refused.
    private func shared(_ privateKey: HexBytes, _ publicKey: HexBytes) throws -> [UInt8]? {
        let point = try PublicKey(rawRepresentation: publicKey.bytes)
        guard let secret = X25519.sharedSecret(SecretKey(privateKey.bytes), point) else { return nil }
        return secret.array
    }

    @Test("the two function examples of RFC 7748 section 5.2 come out")
    func publishedFunctionExamples() throws {
        #expect(
            try shared(
                "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")
                == ("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552" as HexBytes).bytes)
        #expect(
            try shared(
                "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
                "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493")
                == ("95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957" as HexBytes).bytes)
    }

    @Test("the first thousand iterations of RFC 7748 section 5.2 come out")
    func publishedIteration() throws {
        var scalar = [9] + [UInt8](repeating: 0, count: 31)
        var point = scalar
        for round in 1...1_000 {
            let key = try PublicKey(rawRepresentation: point)
            guard let output = X25519.sharedSecret(SecretKey(scalar), key) else {
                Issue.record("round \(round) gave zero")
                return
            }
            let secret = output.array
            point = scalar
            scalar = secret
            if round == 1 {
                #expect(
                    scalar
                        == ("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079" as HexBytes)
                        .bytes)
            }
        }
        #expect(
            scalar == ("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51" as HexBytes).bytes)
    }

    @Test("the key pairs and the shared secret of RFC 7748 section 6.1 come out on both sides")
    func publishedExchange() throws {
        let alice: HexBytes = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"
        let bob: HexBytes = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"
        let alicePublic: HexBytes = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
        let bobPublic: HexBytes = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
        let secret: HexBytes = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
        #expect(X25519.publicKey(of: SecretKey(alice.bytes)).hexadecimal == KeyHex.text(alicePublic))
        #expect(X25519.publicKey(of: SecretKey(bob.bytes)).hexadecimal == KeyHex.text(bobPublic))
        #expect(try shared(alice, bobPublic) == secret.bytes)
        #expect(try shared(bob, alicePublic) == secret.bytes)
    }

    @Test("vectors come out: clamping, public key, shared secret, also for odd encodings of the peer's key")
    func vectors() throws {
        for vector in try Fixture.load("vectors/primitives.json", as: Content.self).x25519 {
            var key = SecretKey(vector.private.bytes)
            #expect(X25519.publicKey(of: key).hexadecimal == KeyHex.text(vector.public))
            #expect(try shared(vector.private, vector.peer_public) == vector.shared.bytes)
            X25519.clamp(&key)
            #expect(key.array == vector.clamped_private.bytes)
            let whole = try PrivateKey(rawRepresentation: vector.private.bytes.span.bytes)
            #expect(whole.hexadecimal == KeyHex.text(vector.clamped_private))
            #expect(whole.publicKey.hexadecimal == KeyHex.text(vector.public))
        }
    }

    @Test("every encoding of a low-order point is refused")
    func lowOrder() throws {
        let vectors = try Fixture.load("vectors/primitives.json", as: Content.self).x25519_low_order
        #expect(vectors.count == 14)
        for vector in vectors { #expect(try shared(vector.private, vector.peer_public) == nil) }
    }
}

/// Expected text forms, made by the test itself.
enum KeyHex {
    /// Lowercase hexadecimal digits.
    static func text(_ hex: HexBytes) -> String {
        hex.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
