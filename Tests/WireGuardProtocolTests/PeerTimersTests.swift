// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardProtocol

@Suite("PeerTimers")
struct PeerTimersTests {
    /// An instant so many seconds after the start.
    private func at(_ count: Int64) -> Instant { Instant(nanoseconds: count * 1_000_000_000) }

    @Test("an attempt that is due 90 s after the first request is not made, and one just before it is")
    func giveUp() {
        for (early, expected) in [(0, .giveUpHandshake), (1, .retransmitHandshake)]
            as [(Int64, PeerTimers.Expiry)]
        {
            var timers = PeerTimers()
            timers.noteHandshakeWanted(at: at(0))
            timers.noteInitiationSent(
                at: Instant(nanoseconds: at(85).nanoseconds - early), jitter: Interval(nanoseconds: 0))
            let due = Instant(nanoseconds: at(90).nanoseconds - early)
            #expect(timers.next == due)
            #expect(timers.expire(at: due) == expected)
        }
    }

    @Test("the first of the data packets that were not answered sets when a new handshake is due")
    func firstDataSent() {
        var timers = PeerTimers()
        for second in 0..<10 as Range<Int64> {
            timers.noteDataSent(at: at(second), jitter: .milliseconds(100 + second))
        }
        #expect(timers.next == at(15) + .milliseconds(100))
        timers.noteAuthenticatedPacketReceived()
        #expect(timers.next == nil)
    }

    @Test("the first of the data packets that came sets when the keepalive is due")
    func firstDataReceived() {
        var timers = PeerTimers()
        for second in 3..<9 as Range<Int64> { timers.noteDataReceived(at: at(second)) }
        #expect(timers.next == at(13))
        #expect(timers.expire(at: at(13)) == .sendKeepalive)
        #expect(timers.next == nil)
    }
}
