// SPDX-License-Identifier: MIT

import Testing
import WireGuardProtocol

@Suite("Padding")
struct PaddingTests {
    @Test(
        "a plaintext grows to a multiple of 16, but not beyond the MTU",
        arguments: [
            (0, 0), (1, 16), (15, 16), (16, 16), (17, 32), (1_392, 1_392), (1_393, 1_408), (1_408, 1_408),
            (1_409, 1_420), (1_419, 1_420), (1_420, 1_420),
        ])
    func withinMTU(byteCount: Int, expected: Int) {
        #expect(Padding.paddedByteCount(byteCount, mtu: 1_420) == expected)
    }

    @Test(
        "a packet longer than the MTU grows within its last unit",
        arguments: [
            (1_421, 1_436), (2_828, 2_828), (2_829, 2_840), (2_839, 2_840), (2_840, 2_840), (2_841, 2_856),
        ])
    func beyondMTU(byteCount: Int, expected: Int) {
        #expect(Padding.paddedByteCount(byteCount, mtu: 1_420) == expected)
    }

    @Test("without a known MTU only the multiple of 16 counts")
    func withoutMTU() {
        #expect(Padding.paddedByteCount(65_521, mtu: 0) == 65_536)
        #expect(Padding.paddedByteCount(0, mtu: 0) == 0)
    }

    @Test(
        "every size gets the padding that counting up gives", arguments: [1, 15, 16, 17, 576, 1_280, 1_420])
    func countingUp(mtu: Int) {
        var mismatches: [Int] = []
        for byteCount in 0...3 * mtu + 64 {
            let lastUnit = byteCount > mtu ? byteCount % mtu : byteCount
            var grown = lastUnit
            while grown % 16 != 0, grown < mtu { grown += 1 }
            if Padding.paddedByteCount(byteCount, mtu: mtu) != byteCount - lastUnit + grown {
                mismatches.append(byteCount)
            }
        }
        #expect(mismatches.isEmpty, "mtu \(mtu)")
    }
}
