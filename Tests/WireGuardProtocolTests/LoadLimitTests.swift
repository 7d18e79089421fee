// SPDX-License-Identifier: MIT

import Testing
import WireGuardProtocol

@Suite("HandshakeRateLimiter and LoadDetector")
struct LoadLimitTests {
    /// How many of so many messages at once are allowed.
    private func allowed(
        _ limiter: inout HandshakeRateLimiter, _ source: IPAddress, _ count: Int, at now: Instant
    ) -> Int {
        (0..<count).count { _ in limiter.allow(source, at: now) }
    }

    @Test("a source gets five messages at once and then one each 50 ms")
    func burstAndRate() throws {
        var limiter = HandshakeRateLimiter()
        let source = try IPAddress("198.51.100.1")
        check(allowed(&limiter, source, 100, at: .seconds(10)) == 5)
        check(allowed(&limiter, source, 100, at: .seconds(10.049)) == 0)
        check(allowed(&limiter, source, 100, at: .seconds(10.05)) == 1)
        check(allowed(&limiter, source, 100, at: .seconds(10.2)) == 3)
        check(allowed(&limiter, source, 100, at: .seconds(10.45)) == 5)
        var steady = 0
        for millisecond in 0..<10_000
        where limiter.allow(source, at: .seconds(20 + Double(millisecond) / 1_000)) {
            steady += 1
        }
        check(steady == 5 + 199, "the burst, and 20 a second while messages come each millisecond")
    }

    @Test("each IPv4 address has its own bucket")
    func addresses() throws {
        var limiter = HandshakeRateLimiter()
        let first = try IPAddress("198.51.100.1")
        check(allowed(&limiter, first, 9, at: .seconds(0)) == 5)
        check(allowed(&limiter, try IPAddress("198.51.100.2"), 9, at: .seconds(0)) == 5)
        // The same top bits as an IPv6 address are another source.
        check(allowed(&limiter, IPAddress(ipv6High: first.high, low: 0), 9, at: .seconds(0)) == 5)
        check(allowed(&limiter, first, 9, at: .seconds(0)) == 0)
    }

    @Test("2^16 addresses of one IPv6 /64 share one bucket, and a source elsewhere is still allowed")
    func floodFromOneNetwork() throws {
        var limiter = HandshakeRateLimiter()
        let network: UInt64 = 0x2001_0DB8_0000_0001
        let count = (UInt64(0)..<65_536).count {
            limiter.allow(IPAddress(ipv6High: network, low: $0 &* 0x9E37_79B9_7F4A_7C15), at: .seconds(0))
        }
        check(count == 5)
        check(limiter.sourceCount == 1)
        check(limiter.allow(IPAddress(ipv6High: network + 1, low: 1), at: .seconds(0)))
        check(limiter.allow(try IPAddress("203.0.113.5"), at: .seconds(0)))
    }

    @Test("a full table refuses new sources, keeps the old ones, and empties when they are full again")
    func fullTable() throws {
        var limiter = HandshakeRateLimiter()
        let limit = UInt32(HandshakeRateLimiter.maximumSources)
        let entered = (0..<limit).count { limiter.allow(IPAddress(ipv4: $0), at: .seconds(1)) }
        check(entered == HandshakeRateLimiter.maximumSources)
        let newcomer = try IPAddress("203.0.113.5")
        check(!limiter.allow(newcomer, at: .seconds(1.01)))
        check(limiter.allow(IPAddress(ipv4: 17), at: .seconds(1.01)))
        check(limiter.sourceCount == HandshakeRateLimiter.maximumSources)
        check(limiter.allow(newcomer, at: .seconds(1.3)), "the others are full again")
        check(limiter.sourceCount == 1)
    }

    @Test("the device is under load beyond 1,024 messages a second, and for one second after")
    func load() {
        var detector = LoadDetector()
        check(!detector.isUnderLoad(at: .seconds(0)))
        let quiet = (0..<1_024).count { _ in !detector.note(at: .seconds(5)) }
        check(quiet == 1_024)
        check(detector.note(at: .seconds(5)))
        check(detector.isUnderLoad(at: .seconds(5.999)))
        check(!detector.isUnderLoad(at: .seconds(6)))
        check(!detector.note(at: .seconds(6)))
    }

    @Test("1,000 messages a second for a minute are no load, 1,200 a second are")
    func steadyRates() {
        var calm = LoadDetector()
        let wrong = (0..<60_000).count { calm.note(at: .seconds(Double($0) / 1_000)) }
        check(wrong == 0)
        var busy = LoadDetector()
        let first = (0..<60_000).first { busy.note(at: .seconds(Double($0) / 1_200)) }
        // Message i, at i / 1,200 s, finds 1,024 stored and 1,024 i / 1,200 come in, and i taken out.
        let expected = (0..<60_000).first { Double($0) + 1 > 1_024 + 1_024 * Double($0) / 1_200 }
        check(first.flatMap { index in expected.map { abs(index - $0) <= 1 } } == true, "\(first ?? -1)")
    }

    @Test("other rates and capacities count the same way, and a clock that stands still adds nothing")
    func configured() {
        var detector = LoadDetector(rate: 10, capacity: 3)
        check((0..<4).map { _ in detector.note(at: .seconds(1)) } == [false, false, false, true])
        check(detector.note(at: .seconds(1.05)), "still in the second after")
        check(!detector.note(at: .seconds(2.1)))
        check(!detector.note(at: .seconds(1_000_000)))
        check((0..<3).map { _ in detector.note(at: .seconds(1_000_000)) } == [false, false, true])
    }
}
