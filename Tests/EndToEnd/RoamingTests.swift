// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

@Suite("Roaming and source addresses", .enabled(if: Machine.isReady, Machine.skipReason))
struct RoamingTests {
    @Test(
        "a peer that changes its address, from IPv4 to IPv6 and back, is followed",
        arguments: [Implementation.tested, .other])
    func roam(mover: Implementation) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, left: mover)
            let (left, right) = (pair.left, pair.right)
            #expect(try await left.namespace.ping(right.inner4))
            let peer = "set \(left.daemon.interface) peer \(right.publicKey) endpoint"

            try await left.namespace.ip("address add 192.0.2.7/24 dev cable")
            try await left.namespace.ip("address del \(left.outer4)/24 dev cable")
            // Deleting the first address of a subnet takes the others with it unless they are promoted.
            try await left.namespace.ip("address replace 192.0.2.7/24 dev cable")
            #expect(try await left.namespace.ping(right.inner4))
            #expect(try await right.daemon.show("endpoints").last == "192.0.2.7:\(Pair.port)")

            try await left.daemon.wg("\(peer) [\(right.outer6)]:\(Pair.port)")
            #expect(try await left.namespace.ping(right.inner4))
            #expect(try await right.daemon.show("endpoints").last == "[\(left.outer6)]:\(Pair.port)")

            try await left.namespace.ip("address add 2001:db8::7/64 dev cable nodad")
            try await left.namespace.ip("address del \(left.outer6)/64 dev cable")
            #expect(try await left.namespace.ping(right.inner6))
            #expect(try await right.daemon.show("endpoints").last == "[2001:db8::7]:\(Pair.port)")

            try await left.daemon.wg("\(peer) \(right.outer4):\(Pair.port)")
            #expect(try await left.namespace.ping(right.inner6))
            #expect(try await right.daemon.show("endpoints").last == "192.0.2.7:\(Pair.port)")
            // The direction that was only told by what it received.
            #expect(try await right.namespace.answers(to: 10, from: left.inner4) == 10)
        }
    }

    @Test("a new listening port of a peer is followed")
    func portChange() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            try await pair.left.daemon.wg("set \(pair.left.daemon.interface) listen-port 51900")
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            #expect(try await pair.right.daemon.show("endpoints").last == "\(pair.left.outer4):51900")
            #expect(try await pair.right.namespace.answers(to: 10, from: pair.left.inner4) == 10)
        }
    }

    @Test("answers leave from the address that the peer talks to", arguments: Pair.Family.allCases)
    func stickySource(family: Pair.Family) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, over: family)
            let (left, right) = (pair.left, pair.right)
            // A second address, from which nothing leaves by itself.
            let second = family == .v4 ? "192.0.2.99" : "2001:db8::99"
            let length = family == .v4 ? "/24" : "/64"
            try await right.namespace.ip(
                "address add \(second)\(length) dev cable" + (family == .v6 ? " nodad" : ""))
            if family == .v6 {
                // Of two equal addresses the kernel would choose the newer.
                try await right.namespace.ip(
                    "address change \(second)\(length) dev cable preferred_lft 0 valid_lft forever")
            }
            let shown = family == .v4 ? "\(second):\(Pair.port)" : "[\(second)]:\(Pair.port)"
            try await left.daemon.wg("set \(left.daemon.interface) peer \(right.publicKey) endpoint \(shown)")
            #expect(try await left.namespace.ping(right.inner4))
            #expect(try await left.namespace.answers(to: 10, from: right.inner4) == 10)
            // Had the answers another source, the left end would have followed it.
            #expect(try await left.daemon.show("endpoints").last == shown)
            // What the other end sends of itself keeps to that address too.
            #expect(try await right.namespace.answers(to: 10, from: left.inner4) == 10)
            #expect(try await left.daemon.show("endpoints").last == shown)
        }
    }

    @Test(
        "traffic recovers when the address that answers left from is deleted", arguments: Pair.Family.allCases
    )
    func deletedSource(family: Pair.Family) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, over: family)
            let (left, right) = (pair.left, pair.right)
            let (second, suffix, options) =
                family == .v4 ? ("192.0.2.99", "/24", "") : ("2001:db8::99", "/64", " nodad")
            try await right.namespace.ip("address add \(second)\(suffix) dev cable\(options)")
            let shown = family == .v4 ? "\(second):\(Pair.port)" : "[\(second)]:\(Pair.port)"
            try await left.daemon.wg("set \(left.daemon.interface) peer \(right.publicKey) endpoint \(shown)")
            #expect(try await left.namespace.ping(right.inner4))
            try await right.namespace.ip("address del \(second)\(suffix) dev cable")
            // The right end must start: the left still sends to the address that is no more.
            #expect(try await right.namespace.ping(left.inner4))
            let first = family == .v4 ? right.outer4 : "[\(right.outer6)]"
            #expect(try await left.daemon.show("endpoints").last == "\(first):\(Pair.port)")
            #expect(try await left.namespace.answers(to: 10, from: right.inner4) == 10)
        }
    }
}
