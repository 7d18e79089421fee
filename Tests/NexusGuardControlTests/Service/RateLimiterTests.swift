// SPDX-License-Identifier: MIT

import NexusGuardControl
import Testing

@Suite("Rate limiter")
struct RateLimiterTests {
    @Test("a span holds as many as allowed, wherever it begins")
    func slidingSpan() {
        var limiter = RateLimiter(limit: 3, interval: .seconds(60))
        var admitted: [Int] = []
        for second in 0..<300 where limiter.admit("192.0.2.1", at: .seconds(second)) == nil {
            admitted.append(second)
        }
        #expect(admitted == [0, 1, 2, 60, 61, 62, 120, 121, 122, 180, 181, 182, 240, 241, 242])
    }

    @Test("the wait ends when the oldest request leaves the span")
    func wait() {
        var limiter = RateLimiter(limit: 2, interval: .seconds(60))
        #expect(limiter.admit("a", at: .seconds(100)) == nil)
        #expect(limiter.admit("a", at: .seconds(130)) == nil)
        #expect(limiter.admit("a", at: .seconds(131)) == .seconds(29))
        #expect(limiter.admit("a", at: .milliseconds(159_500)) == .milliseconds(500))
        #expect(limiter.admit("a", at: .seconds(160)) == nil)
        #expect(limiter.admit("a", at: .seconds(160)) == .seconds(30))
    }

    @Test(
        "addresses of one IPv6 network, and the two forms of an IPv4 address, count as one",
        arguments: [
            ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true), ("2001:db8:0:1::1", "2001:db8:0:2::1", false),
            ("192.0.2.1", "::ffff:192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
            ("fe80::1%eth0", "fe80::2%eth1", true),
        ])
    func grouping(first: String, second: String, areOne: Bool) {
        var limiter = RateLimiter(limit: 1)
        #expect(limiter.admit(first, at: .zero) == nil)
        #expect((limiter.admit(second, at: .zero) != nil) == areOne)
    }

    @Test("memory is bounded, and a limited address stays limited while others come")
    func capacity() {
        var limiter = RateLimiter(limit: 1, capacity: 100)
        for number in 0..<10_000 {
            #expect(limiter.admit("10.0.\(number / 256).\(number % 256)", at: .milliseconds(number)) == nil)
            #expect(limiter.count <= 100)
        }
        #expect(limiter.admit("10.0.39.15", at: .seconds(10)) != nil)
    }
}
