// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

@Suite("A new handshake under traffic", .enabled(if: Machine.isReady, Machine.skipReason))
struct RekeyTests {
    @Test(
        "no packet is lost when the keys are renewed after 120 s",
        arguments: [
            Arrangement(left: .tested, right: .tested, family: .v4),
            Arrangement(left: .tested, right: .other, family: .v6),
            Arrangement(left: .other, right: .tested, family: .v4),
        ])
    func renewal(arrangement: Arrangement) async throws {
        // It waits nearly all of its two minutes, so it runs beside the others.
        try await Lab.with(slot: false) { lab in
            let pair = try await Pair(
                lab, left: arrangement.left, right: arrangement.right, over: arrangement.family)
            let start = ContinuousClock.now
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            let first = try await pair.left.daemon.latestHandshake()
            // 128 s of traffic, or more on a machine that is busy.
            #expect(
                try await pair.left.namespace.answers(to: 1280, from: pair.right.inner4, every: 0.1) == 1280
            )
            let seconds = Int((ContinuousClock.now - start).components.seconds)
            let last = try await pair.left.daemon.latestHandshake()
            let range = first + 118...first + max(128, seconds + 1)
            #expect(range.contains(last), "\(first), then \(last), after \(seconds) s of traffic")
        }
    }
}
