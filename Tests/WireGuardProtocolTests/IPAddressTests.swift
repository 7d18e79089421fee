// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardProtocol

@Suite("IPAddress")
struct IPAddressTests {
    @Test(
        "a text of RFC 4291 is read and written as RFC 5952 asks",
        arguments: [
            ("ABCD:EF01:2345:6789:ABCD:EF01:2345:6789", "abcd:ef01:2345:6789:abcd:ef01:2345:6789"),
            ("2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"),
            ("FF01:0:0:0:0:0:0:101", "ff01::101"),
            ("0:0:0:0:0:0:0:1", "::1"),
            ("0:0:0:0:0:0:0:0", "::"),
            ("0:0:0:0:0:FFFF:129.144.52.38", "::ffff:129.144.52.38"),
            ("::FFFF:129.144.52.38", "::ffff:129.144.52.38"),
            ("::13.1.68.3", "::d01:4403"),
            ("2001:0db8::0001", "2001:db8::1"),
            ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"),
            ("2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
            ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
            ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
            ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
            ("1::", "1::"),
            ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
            ("0.0.0.0", "0.0.0.0"),
            ("255.255.255.255", "255.255.255.255"),
            ("192.0.2.1", "192.0.2.1"),
        ])
    func canonicalText(text: String, canonical: String) throws {
        let address = try IPAddress(text)
        #expect(address.description == canonical)
        #expect(try IPAddress(canonical) == address)
        #expect(address.isIPv6 == text.contains(":"))
        #expect(ModelAddress(cText: text) == ModelAddress(address))
    }

    @Test(
        "a text that is no address is refused and named",
        arguments: [
            "", " ", ".", ":", "1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1..2.3", "1.2.3.256",
            "1.2.3.04",
            "1.2.3.4 ", " 1.2.3.4", "0x1.2.3.4", "1.2.3.-4", "1.2.3.+4", "1.2.3.4/8", "1.2.3.1000",
            ":::", "::1::", "1::2::3", "1:::2", ":1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:", "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9", "1:2:3:4::5:6:7:8", "::1:2:3:4:5:6:7:8", "12345::", "g::", "[::1]",
            "::1%eth0",
            "::1.2.3", "::1.2.3.256", "1.2.3.4::", "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "::ffff:1.2.3.04",
            "::１", "1.2.3.４", "::1/64", "1:2:3:4:5:6:7:", ":1", "1:",
        ])
    func refused(text: String) {
        #expect(throws: AddressError.notAnAddress(text)) { try IPAddress(text) }
        #expect(ModelAddress(cText: text) == nil, "the C library agrees")
    }

    @Test("random addresses are written and read as the C library does", arguments: [UInt64(1), 2, 3])
    func written(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1_000 {
            let expected = Self.randomBytes(&random)
            let address = expected.address
            let text = address.description
            #expect(ModelAddress(address) == expected, "seed \(seed)")
            #expect(ModelAddress(cText: text) == expected, "seed \(seed)")
            #expect(try IPAddress(text) == address, "seed \(seed)")
            #expect(try IPAddress(expected.cText) == address, "seed \(seed)")
            // The C library writes all of ::/96 with a dotted end, which RFC 5952 leaves to known prefixes.
            if expected.bytes.count == 4 || expected.bytes[..<12].contains(where: { $0 != 0 }) {
                #expect(text == expected.cText, "seed \(seed)")
            }
        }
    }

    @Test("altered texts are read or refused as the C library does", arguments: [UInt64(1), 2, 3])
    func altered(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("0123456789abcdefABCDEF::::....g%/ ")
        var accepted = 0
        for _ in 0..<6_000 {
            var characters = Array(Self.randomBytes(&random).cText)
            for _ in 0...random.below(3) {
                let place = random.below(characters.count + 1)
                let character = alphabet[random.below(alphabet.count)]
                switch random.below(3) {
                case 0: characters.insert(character, at: place)
                case 1 where place < characters.count: characters.remove(at: place)
                case 2 where place < characters.count: characters[place] = character
                default: break
                }
            }
            let text = String(characters)
            let address = try? IPAddress(text)
            let expected = ModelAddress(cText: text)
            if address.map(ModelAddress.init) != expected {
                Issue.record("seed \(seed): '\(text)' gives \(String(describing: address))")
            }
            if expected != nil { accepted += 1 }
        }
        #expect(accepted > 500, "seed \(seed)")
        #expect(accepted < 5_500, "seed \(seed)")
    }

    /// An address of either family; half of the IPv6 groups are zero, and some have leading zeros.
    private static func randomBytes(_ random: inout SeededGenerator) -> ModelAddress {
        if random.below(3) == 0 {
            return ModelAddress(bytes: (0..<4).map { _ in UInt8(random.below(256) >> random.below(9)) })
        }
        var bytes: [UInt8] = []
        for group in 0..<8 {
            var value = random.below(2) == 0 ? 0 : random.below(65_536) >> random.below(16)
            if group == 5, random.below(4) == 0 { value = 0xFFFF }
            bytes += [UInt8(value >> 8), UInt8(value & 255)]
        }
        if random.below(6) == 0 { bytes.replaceSubrange(0..<10, with: [UInt8](repeating: 0, count: 10)) }
        return ModelAddress(bytes: bytes)
    }
}
