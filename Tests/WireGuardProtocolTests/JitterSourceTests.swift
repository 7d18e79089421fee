// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardProtocol

@Suite("JitterSource")
struct JitterSourceTests {
    /// The exclusive upper end of the jitter of the reference implementation, 334 ms.
    private let limit: Int64 = 334_000_000

    @Test(
        "times lie from zero up to a third of a second and fill each tenth of it",
        arguments: 0..<20 as Range<UInt64>)
    func spread(seed: UInt64) {
        var source = JitterSource(seed: seed)
        var counts = [Int](repeating: 0, count: 10)
        for _ in 0..<10_000 {
            let nanoseconds = source.next().nanoseconds
            guard (0..<limit).contains(nanoseconds) else {
                Issue.record("\(nanoseconds) ns is out of range, seed \(seed)")
                return
            }
            counts[Int(nanoseconds * 10 / limit)] += 1
        }
        // Each tenth is expected 1,000 times with a standard deviation of 30.
        #expect(counts.allSatisfy { (800...1_200).contains($0) }, "\(counts), seed \(seed)")
    }

    @Test("the same seed gives the same times and another seed gives others")
    func seeds() {
        var (first, second, other) = (JitterSource(seed: 7), JitterSource(seed: 7), JitterSource(seed: 8))
        let times = (0..<10).map { _ in first.next() }
        #expect(times == (0..<10).map { _ in second.next() })
        #expect(times != (0..<10).map { _ in other.next() })
    }
}
