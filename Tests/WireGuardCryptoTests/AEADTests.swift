// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardCrypto

@Suite("ChaCha20-Poly1305 and XChaCha20-Poly1305")
struct AEADTests {
    /// The parts of `primitives.json` that concern encryption.
    struct Content: Decodable {
        struct Case: Decodable {
            let key: HexBytes
            let counter: Decimal64
            let plaintext: HexBytes
            let ad: HexBytes
            let ciphertext_and_tag: HexBytes
        }
        struct ExtendedCase: Decodable {
            let key: HexBytes
            let nonce: HexBytes
            let plaintext: HexBytes
            let ad: HexBytes
            let ciphertext_and_tag: HexBytes
        }
        let chacha20poly1305: [Case]
        let xchacha20poly1305: [ExtendedCase]
    }

    /// Opens and gives the plaintext, or `nil`.
    private func open(_ ciphertext: [UInt8], _ key: [UInt8], _ counter: UInt64, _ ad: [UInt8]) -> [UInt8]? {
        let opened = filled(max(0, ciphertext.count - 16)) {
            ChaCha20Poly1305.open(
                ciphertext.span.bytes, key: SecretKey(key), counter: counter, associatedData: ad.span.bytes,
                into: &$0)
        }
        return opened.result ? opened.bytes : nil
    }

    /// Opens and gives the plaintext, or `nil`.
    private func open(
        _ ciphertext: [UInt8], _ key: [UInt8], nonce: [UInt8], _ ad: [UInt8]
    ) -> [UInt8]? {
        let opened = filled(max(0, ciphertext.count - 16)) {
            XChaCha20Poly1305.open(
                ciphertext.span.bytes, key: SecretKey(key), nonce: nonce.span.bytes,
                associatedData: ad.span.bytes,
                into: &$0)
        }
        return opened.result ? opened.bytes : nil
    }

    @Test("the example of RFC 8439 appendix A.5 opens, its nonce read as a little-endian counter")
    func publishedExample() throws {
        let key: HexBytes = "1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0"
        let ad: HexBytes = "f33388860000000000004e91"
        let sealed: HexBytes = """
            64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb2
            4c6cfc18755d43eea09ee94e382d26b0bdb7b73c321b0100d4f03b7f355894cf
            332f830e710b97ce98c8a84abd0b948114ad176e008d33bd60f982b1ff37c855
            9797a06ef4f0ef61c186324e2b3506383606907b6a7c02b0f9f6157b53c867e4
            b9166c767b804d46a59b5216cde7a4e99040c5a40433225ee282a1b0a06c523e
            af4534d7f83fa1155b0047718cbc546a0d072b04b3564eea1b422273f548271a
            0bb2316053fa76991955ebd63159434ecebb4e466dae5a1073a6727627097a10
            49e617d91d361094fa68f0ff77987130305beaba2eda04df997b714d6c6f2c29
            a6ad5cb4022b02709b eead9d67890cbb22392336fea1851f38
            """
        let plaintext =
            "Internet-Drafts are draft documents valid for a maximum of six months and may be updated, "
            + "replaced, or obsoleted by other documents at any time. It is inappropriate to use "
            + "Internet-Drafts as reference material or to cite them other than as "
            + "/\u{201C}work in progress./\u{201D}"
        #expect(open(sealed.bytes, key.bytes, 0x0807_0605_0403_0201, ad.bytes) == Array(plaintext.utf8))
    }

    @Test("vectors seal and open, and do not open under another counter or with other associated data")
    func vectors() throws {
        for vector in try Fixture.load("vectors/primitives.json", as: Content.self).chacha20poly1305 {
            let key = vector.key.bytes
            let counter = vector.counter.value
            let sealed = filled(vector.plaintext.bytes.count + 16) {
                ChaCha20Poly1305.seal(
                    vector.plaintext.bytes.span.bytes, key: SecretKey(key), counter: counter,
                    associatedData: vector.ad.bytes.span.bytes, into: &$0)
            }
            #expect(sealed.bytes == vector.ciphertext_and_tag.bytes)
            #expect(open(sealed.bytes, key, counter, vector.ad.bytes) == vector.plaintext.bytes)
            #expect(open(sealed.bytes, key, counter ^ 1, vector.ad.bytes) == nil)
            #expect(open(sealed.bytes, key, counter ^ 1 << 63, vector.ad.bytes) == nil)
            #expect(open(sealed.bytes, key, counter, vector.ad.bytes + [0]) == nil)
        }
    }

    @Test("a flipped bit anywhere in ciphertext or tag is refused, and so is a cut or a longer text")
    func tampering() throws {
        let vectors = try Fixture.load("vectors/primitives.json", as: Content.self).chacha20poly1305
        let vector = try #require(vectors.first { (1...100).contains($0.plaintext.bytes.count) })
        let sealed = vector.ciphertext_and_tag.bytes
        for bit in 0..<(8 * sealed.count) {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(
                open(changed, vector.key.bytes, vector.counter.value, vector.ad.bytes) == nil, "bit \(bit)")
        }
        for count in 0..<sealed.count {
            #expect(
                open(Array(sealed.prefix(count)), vector.key.bytes, vector.counter.value, vector.ad.bytes)
                    == nil)
        }
        #expect(open(sealed + [0], vector.key.bytes, vector.counter.value, vector.ad.bytes) == nil)
    }

    @Test("the example of draft-irtf-cfrg-xchacha-03 appendix A.3.1 comes out")
    func publishedExtendedExample() {
        let plaintext = Array(
            ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
                + "sunscreen would be it.").utf8)
        let ad: HexBytes = "50515253c0c1c2c3c4c5c6c7"
        let key: HexBytes = "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"
        let nonce: HexBytes = "404142434445464748494a4b4c4d4e4f5051525354555657"
        let expected: HexBytes = """
            bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb
            731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452
            2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9
            21f9664c97637da9768812f615c68b13b52e
            c0875924c1c7987947deafd8780acf49
            """
        let sealed = filled(plaintext.count + 16) {
            XChaCha20Poly1305.seal(
                plaintext.span.bytes, key: SecretKey(key.bytes), nonce: nonce.bytes.span.bytes,
                associatedData: ad.bytes.span.bytes, into: &$0)
        }
        #expect(sealed.bytes == expected.bytes)
    }

    @Test("extended-nonce vectors seal and open, and do not open with anything changed")
    func extendedVectors() throws {
        for vector in try Fixture.load("vectors/primitives.json", as: Content.self).xchacha20poly1305 {
            let sealed = filled(vector.plaintext.bytes.count + 16) {
                XChaCha20Poly1305.seal(
                    vector.plaintext.bytes.span.bytes, key: SecretKey(vector.key.bytes),
                    nonce: vector.nonce.bytes.span.bytes, associatedData: vector.ad.bytes.span.bytes,
                    into: &$0)
            }
            #expect(sealed.bytes == vector.ciphertext_and_tag.bytes)
            let key = vector.key.bytes
            let nonce = vector.nonce.bytes
            #expect(open(sealed.bytes, key, nonce: nonce, vector.ad.bytes) == vector.plaintext.bytes)
            #expect(open(sealed.bytes, key, nonce: nonce, vector.ad.bytes + [1]) == nil)
            #expect(open(sealed.bytes, key, nonce: nonce.reversed(), vector.ad.bytes) == nil)
            for index in sealed.bytes.indices {
                var changed = sealed.bytes
                changed[index] ^= 0x80
                #expect(open(changed, key, nonce: nonce, vector.ad.bytes) == nil)
            }
            for count in 0..<16 {
                #expect(open(Array(sealed.bytes.prefix(count)), key, nonce: nonce, vector.ad.bytes) == nil)
            }
        }
    }
}
