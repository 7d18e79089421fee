// SPDX-License-Identifier: MIT

import Testing
import WireGuardCrypto

@Suite("Choice of the AEAD implementation")
struct VectorAEADChoiceTests {
    @Test("every implementation that this processor has passes its self-test")
    func selfTest() {
        let available = AEADImplementation.allCases.filter(\.isAvailable)
        let names = available.map(\.rawValue).joined(separator: " ")
        print("AEAD implementations tested: \(names); in use: \(PacketAEAD.implementation)")
        #expect(available.contains(.libsodium) && available.contains(.composed))
        for implementation in available {
            #expect(AEADSelfTest.passes(implementation), "\(implementation)")
        }
        #expect(available.contains(PacketAEAD.implementation))
    }

    @Test("a setting is followed where it can be, and the fastest is taken otherwise")
    func setting() {
        let all = Set(AEADImplementation.allCases)
        let none: Set<AEADImplementation> = [.libsodium, .composed]
        let noWide = all.subtracting([.avx512])
        let table: [(setting: String, usable: Set<AEADImplementation>, expected: AEADImplementation)] = [
            ("auto", all, .avx512), ("auto", noWide, .avx2), ("auto", none, .composed),
            ("", all, .avx512), ("AVX2", all, .avx512), ("libsodium ", noWide, .avx2),
            ("off", none, .composed),
            ("libsodium", all, .libsodium), ("composed", all, .composed), ("avx2", all, .avx2),
            ("avx512", all, .avx512), ("avx512", noWide, .avx2), ("avx2", none, .composed),
        ]
        for row in table {
            let chosen = AEADImplementation.chosen(for: row.setting) { row.usable.contains($0) }
            #expect(chosen == row.expected, "\(row)")
        }
    }
}
