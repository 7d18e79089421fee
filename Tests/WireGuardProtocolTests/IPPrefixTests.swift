// SPDX-License-Identifier: MIT

import Testing
import WireGuardProtocol

@Suite("IPPrefix")
struct IPPrefixTests {
    @Test(
        "a text is read with its host bits cleared",
        arguments: [
            ("10.1.2.3/8", "10.0.0.0/8"), ("10.1.2.200/25", "10.1.2.128/25"), ("10.1.2.3", "10.1.2.3/32"),
            ("255.255.255.255/0", "0.0.0.0/0"), ("192.168.4.5/31", "192.168.4.4/31"),
            ("1.1.1.1/32", "1.1.1.1/32"),
            ("2001:db8::1", "2001:db8::1/128"), ("2001:db8:ffff::1/33", "2001:db8:8000::/33"),
            ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/64", "ffff:ffff:ffff:ffff::/64"),
            ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/65", "ffff:ffff:ffff:ffff:8000::/65"),
            ("ffff::/0", "::/0"), ("::ffff:10.0.0.1/127", "::ffff:10.0.0.0/127"),
            ("10.0.0.0/08", "10.0.0.0/8"),
        ])
    func read(text: String, canonical: String) throws {
        #expect(try IPPrefix(text).description == canonical)
    }

    @Test(
        "a length that the family does not have is refused and named",
        arguments: ["33", "-1", "+8", "", " 8", "8 ", "a", "8/8", "99999999999999999999", "255.0.0.0", "８"])
    func badLength(length: String) {
        #expect(throws: AddressError.invalidPrefixLength(length)) { try IPPrefix("10.0.0.0/\(length)") }
    }

    @Test("an IPv6 length ends at 128")
    func badIPv6Length() {
        #expect(throws: AddressError.invalidPrefixLength("129")) { try IPPrefix("::/129") }
        #expect(throws: Never.self) { try IPPrefix("::/128") }
    }

    @Test(
        "a prefix without a valid address is refused",
        arguments: ["", "/", "/8", "10.0.0/8", "[::]/0", "x/8"])
    func badAddress(text: String) {
        let address = String(text.prefix { $0 != "/" })
        #expect(throws: AddressError.notAnAddress(address)) { try IPPrefix(text) }
    }

    @Test("a length outside the family gives no prefix")
    func lengths() {
        let ipv4 = IPAddress(ipv4: 1)
        let ipv6 = IPAddress(ipv6High: 0, low: 1)
        #expect([-1, 33, 128].allSatisfy { IPPrefix(address: ipv4, length: $0) == nil })
        #expect([-1, 129].allSatisfy { IPPrefix(address: ipv6, length: $0) == nil })
        #expect((0...32).allSatisfy { IPPrefix(address: ipv4, length: $0)?.length == $0 })
        #expect((0...128).allSatisfy { IPPrefix(address: ipv6, length: $0)?.length == $0 })
    }

    @Test("every length keeps the leading bits and holds just what shares them")
    func everyLength() throws {
        for byteCount in [4, 16] {
            let bytes = [UInt8](repeating: 0xFF, count: byteCount)
            let address = ModelAddress(bytes: bytes).address
            for length in 0...address.bitCount {
                let prefix = try #require(IPPrefix(address: address, length: length))
                let expected = (0..<bytes.count).map { index -> UInt8 in
                    let kept = min(8, max(0, length - 8 * index))
                    return UInt8(truncatingIfNeeded: 0xFF00 >> kept)
                }
                #expect(ModelAddress(prefix.address).bytes == expected)
                #expect(prefix.contains(address))
                for bit in 0..<address.bitCount {
                    var flipped = bytes
                    flipped[bit / 8] ^= 0x80 >> (bit % 8)
                    let isInside = prefix.contains(ModelAddress(bytes: flipped).address)
                    if isInside != (bit >= length) { Issue.record("length \(length), bit \(bit)") }
                }
            }
        }
    }

    @Test("a prefix holds no address of the other family")
    func families() throws {
        #expect(!(try IPPrefix("0.0.0.0/0").contains(IPAddress("::"))))
        #expect(!(try IPPrefix("::/0").contains(IPAddress("0.0.0.0"))))
    }
}
