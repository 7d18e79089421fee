// SPDX-License-Identifier: MIT

import Foundation
import Harness
import Testing
import WireGuardCrypto

@Suite("Keys")
struct KeyTests {
    /// A well-formed key that is easy to tell apart from every other text.
    private let raw = (0..<32).map { UInt8(0x40 + $0) }
    /// Its base64 form by Foundation.
    private var base64: String { Data(raw).base64EncodedString() }
    /// Its hexadecimal form.
    private var hexadecimal: String { raw.map { String(format: "%02x", $0) }.joined() }

    @Test("base64 and hexadecimal forms are read and written back, for each kind of key")
    func roundTrip() throws {
        var random = SeededGenerator(seed: 51)
        for _ in 0..<200 {
            let bytes = random.bytes(32)
            let text = Data(bytes).base64EncodedString()
            let digits = bytes.map { String(format: "%02x", $0) }.joined()
            #expect(try PublicKey(base64: text).base64 == text)
            #expect(try PublicKey(base64: text).hexadecimal == digits)
            #expect(try PublicKey(hexadecimal: digits.uppercased()) == PublicKey(base64: text))
            #expect(try PublicKey(rawRepresentation: bytes).base64 == text)
            #expect(try PresharedKey(base64: text).base64 == text)
            #expect(try PresharedKey(hexadecimal: digits).hexadecimal == digits)
            var clamped = bytes
            clamped[0] &= 248
            clamped[31] = clamped[31] & 127 | 64
            #expect(try PrivateKey(base64: text).base64 == Data(clamped).base64EncodedString())
            #expect(
                try PrivateKey(hexadecimal: digits).isEqual(
                    to: PrivateKey(rawRepresentation: clamped.span.bytes)))
        }
    }

    @Test("the bytes of a secret are handed out as they are, without a copy")
    func borrowedBytes() throws {
        var clamped = raw
        clamped[0] &= 248
        clamped[31] = clamped[31] & 127 | 64
        let privateKey = try PrivateKey(rawRepresentation: raw.span.bytes)
        let presharedKey = try PresharedKey(rawRepresentation: raw.span.bytes)
        #expect(privateKey.withBytes { $0.withUnsafeBytes { Array($0) } } == clamped)
        #expect(presharedKey.withBytes { $0.withUnsafeBytes { Array($0) } } == raw)
        let places = (0..<2).map { _ in privateKey.withBytes { $0.withUnsafeBytes { $0.baseAddress } } }
        #expect(places[0] != nil && places[0] == places[1])
        #expect(throws: KeyError.notBase64) {
            try privateKey.withBytes { (_: RawSpan) throws(KeyError) in throw .notBase64 }
        }
    }

    @Test("the forms are read from a buffer as from a text")
    func buffers() throws {
        let text = Array(base64.utf8)
        let digits = Array(hexadecimal.utf8)
        #expect(try PublicKey(base64Bytes: text.span.bytes) == PublicKey(rawRepresentation: raw))
        #expect(try PublicKey(hexadecimalBytes: digits.span.bytes) == PublicKey(rawRepresentation: raw))
        #expect(try PresharedKey(base64Bytes: text.span.bytes).base64 == base64)
        #expect(try PresharedKey(hexadecimalBytes: digits.span.bytes).base64 == base64)
        #expect(
            try PrivateKey(base64Bytes: text.span.bytes).isEqual(
                to: PrivateKey(hexadecimalBytes: digits.span.bytes)))
    }

    /// Texts that are almost the base64 form of a key.
    static let badBase64: [String] = {
        let good = Data((0..<32).map { UInt8(0x40 + $0) }).base64EncodedString()
        let head = String(good.prefix(20))
        let tail = String(good.suffix(23))
        var texts = ["", "=", good + "=", good + "\n", " " + good, good + " ", good + good]
        texts += [String(good.dropFirst()), String(good.dropLast()), String(good.dropLast()) + "A"]
        texts += [String(good.dropLast(2)) + "==", String(good.prefix(42)) + "\u{E9}"]
        texts.append(String(repeating: "=", count: 44))
        for middle in ["\n", " ", "=", "-", "_", "\u{0}", ""] { texts.append(head + middle + tail) }
        // The last character has two bits beyond 32 bytes: all but every fourth character set one.
        for last in "BCDFGHJKLNOPRSTVWXZabdefhijlmnpqrtuvxyz1235679+/" {
            texts.append(String(good.dropLast(2)) + String(last) + "=")
        }
        return texts
    }()

    @Test("anything but 44 base64 characters with zero bits at the end is refused", arguments: badBase64)
    func refusedBase64(text: String) {
        #expect(throws: KeyError.notBase64) { try PublicKey(base64: text) }
        #expect(throws: KeyError.notBase64) { try PrivateKey(base64: text) }
        #expect(throws: KeyError.notBase64) { try PresharedKey(base64: text) }
    }

    @Test("the sixteen last characters with zero bits are read")
    func lastCharacters() throws {
        for last in "AEIMQUYcgkosw048" {
            let text = base64.dropLast(2) + String(last) + "="
            #expect(try PublicKey(base64: String(text)).base64 == text)
        }
    }

    @Test("anything but 64 hexadecimal digits is refused")
    func refusedHexadecimal() {
        let body = String(hexadecimal.dropLast())
        var texts = ["", "0", body, body + "g", body + ":", body + " ", body + "\n", body + "\u{0}"]
        texts += [" " + body, "0x" + hexadecimal, "0x" + hexadecimal.dropLast(2), hexadecimal + "0"]
        texts += [hexadecimal + "00", hexadecimal + "\n", String(hexadecimal.dropLast(2)) + "\u{E9}"]
        texts.append(String(hexadecimal.prefix(32)) + ":" + hexadecimal.suffix(31))
        for text in texts {
            #expect(throws: KeyError.notHexadecimal, "\(text.utf8.count)") {
                try PublicKey(hexadecimal: text)
            }
            #expect(throws: KeyError.notHexadecimal) { try PrivateKey(hexadecimal: text) }
            #expect(throws: KeyError.notHexadecimal) { try PresharedKey(hexadecimal: text) }
        }
    }

    @Test(
        "raw forms of another size than 32 bytes are refused with that size", arguments: [0, 1, 31, 33, 64])
    func refusedSizes(count: Int) {
        let bytes = [UInt8](repeating: 1, count: count)
        #expect(throws: KeyError.wrongByteCount(count)) { try PublicKey(rawRepresentation: bytes) }
        #expect(throws: KeyError.wrongByteCount(count)) {
            try PrivateKey(rawRepresentation: bytes.span.bytes)
        }
        #expect(throws: KeyError.wrongByteCount(count)) {
            try PresharedKey(rawRepresentation: bytes.span.bytes)
        }
    }

    @Test("printing, dumping, reflecting and interpolating a secret shows nothing of it")
    func hiddenSecrets() throws {
        let secrets: [Any] = [try PrivateKey(base64: base64), try PresharedKey(base64: base64)]
        var shown = ""
        for secret in secrets {
            shown += "\(secret)" + String(describing: secret) + String(reflecting: secret)
            dump(secret, to: &shown)
            dump([secret], to: &shown)
            dump(Optional(secret) as Any, to: &shown)
            #expect(Mirror(reflecting: secret).children.isEmpty)
            #expect(Mirror(reflecting: secret).superclassMirror == nil)
        }
        let clamped = try PrivateKey(base64: base64)
        for text in [base64, hexadecimal, clamped.base64, clamped.hexadecimal] {
            #expect(!shown.contains(text.prefix(8)))
            #expect(!shown.contains(text.suffix(8)))
        }
        #expect(!shown.contains("\(raw[5]), \(raw[6])"))
        #expect(shown.contains("PrivateKey(hidden)"))
        #expect(shown.contains("PresharedKey(hidden)"))
    }

    @Test("an error says nothing of the refused text")
    func errorsHideTexts() {
        let text = String(base64.dropLast(2)) + "B="
        do {
            _ = try PrivateKey(base64: text)
            Issue.record("the text was accepted")
        } catch {
            #expect(!"\(error) \(String(reflecting: error))".contains(text.prefix(6)))
        }
    }

    @Test("new keys differ and are clamped, and equality is by content")
    func newKeys() throws {
        let first = PrivateKey()
        let second = PrivateKey()
        #expect(!first.isEqual(to: second))
        #expect(try first.isEqual(to: PrivateKey(base64: first.base64)))
        #expect(first.publicKey != second.publicKey)
        let bytes = try #require(Data(base64Encoded: first.base64))
        #expect(bytes[0] & 7 == 0 && bytes[31] & 0xC0 == 0x40)
        #expect(!PresharedKey().isEqual(to: PresharedKey()))
        #expect(!PresharedKey().isZero)
        #expect(try PresharedKey(hexadecimal: String(repeating: "0", count: 64)).isZero)
    }

    @Test("secrets and spans are compared by all of their bytes")
    func comparison() {
        let same = SecretKey(raw)
        for index in 0..<32 {
            var other = raw
            other[index] ^= 1
            let equalSecrets = same.isEqual(to: SecretKey(other))
            let equalSpans = ConstantTime.areEqual(raw.span.bytes, other.span.bytes)
            #expect(!equalSecrets && !equalSpans, "byte \(index)")
        }
        let copies = [same.isEqual(to: SecretKey(raw)), same.isEqual(to: SecretKey(copying: same))]
        let spans = [
            ConstantTime.areEqual(raw.span.bytes, raw.span.bytes),
            ConstantTime.areEqual(RawSpan(), RawSpan()),
        ]
        let sizes = [
            ConstantTime.areEqual(raw.span.bytes, RawSpan()),
            ConstantTime.areEqual(raw.span.bytes, Array(raw.dropLast()).span.bytes),
        ]
        let zeros = [SecretKey().isZero, same.isZero]
        #expect(copies == [true, true])
        #expect(spans == [true, true])
        #expect(sizes == [false, false])
        #expect(zeros == [true, false])
    }
}
