// SPDX-License-Identifier: MIT

import AgentCore
import Harness
import NexusGuard
import Testing

@Suite("hashes and keys")
struct HashTests {
    @Test(
        "SHA-256 gives the examples of FIPS 180",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func sha256(_ text: String, _ digest: String) {
        #expect(CryptoManager.sha256(Array(text.utf8)) == Fixture.hex(digest))
    }

    /// RFC 4231, test cases 1 to 4, 6 and 7.
    private static let hmacCases: [(String, String, String)] = [
        (
            String(repeating: "0b", count: 20), "4869205468657265",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            String(repeating: "aa", count: 20), String(repeating: "dd", count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            "0102030405060708090a0b0c0d0e0f10111213141516171819", String(repeating: "cd", count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        (
            String(repeating: "aa", count: 131),
            "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ]

    @Test("HMAC-SHA256 gives the examples of RFC 4231", arguments: hmacCases)
    func hmac(_ key: String, _ data: String, _ mac: String) {
        #expect(CryptoManager.hmacSHA256(Fixture.hex(data), key: Fixture.hex(key)) == Fixture.hex(mac))
    }

    @Test("a comparison of bytes looks at all of them")
    func comparison() {
        #expect(CryptoManager.areEqual([], []))
        #expect(CryptoManager.areEqual([1, 2, 3], [1, 2, 3]))
        #expect(!CryptoManager.areEqual([1, 2, 3], [1, 2]))
        for index in 0..<32 {
            var other = [UInt8](repeating: 7, count: 32)
            other[index] ^= 0x80
            #expect(!CryptoManager.areEqual([UInt8](repeating: 7, count: 32), other))
        }
    }

    @Test("a provisioning key survives as 32 bytes, and nothing else makes one")
    func provisioningKey() throws {
        let key = CryptoManager.deriveKey(token: "abc", hwid: "def")
        let bytes = key.withBytes { $0.withUnsafeBytes { Array($0) } }
        #expect(bytes == CryptoManager.sha256(Array("abcdef".utf8)))
        let copy = try ProvisioningKey(rawRepresentation: bytes)
        #expect(copy.isEqual(to: key))
        #expect(!copy.isEqual(to: CryptoManager.deriveKey(token: "abc", hwid: "deg")))
        for count in [0, 1, 31, 33, 64] {
            #expect(throws: AgentError.self) {
                try ProvisioningKey(rawRepresentation: [UInt8](repeating: 1, count: count))
            }
        }
        #expect(throws: AgentError.configInvalid(field: "key", reason: "is all zero")) {
            try ProvisioningKey(rawRepresentation: [UInt8](repeating: 0, count: 32))
        }
    }

    @Test("neither printing nor dumping shows a secret")
    func hidden() throws {
        let key = CryptoManager.deriveKey(token: "abc", hwid: "def")
        let secret = key.withBytes { Hexadecimal.text($0.withUnsafeBytes { Array($0) }) }
        let request = try ProvisionRequest(token: "registration-token", hwid: "0123456789abcdef")
        var shown = "\(key) \(String(reflecting: key)) \(request) \(String(reflecting: request))"
        dump(key, to: &shown)
        dump(request, to: &shown)
        dump(SecretBytes(copying: Array("registration-token".utf8).span.bytes), to: &shown)
        #expect(!shown.contains(secret))
        #expect(!shown.contains("registration-token"))
        #expect(!shown.contains("0123456789abcdef"))
        #expect(shown.contains("ProvisioningKey(hidden)"))
    }
}
