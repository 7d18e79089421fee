// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

@Suite("MTU", .enabled(if: Machine.isReady, Machine.skipReason))
struct MTUTests {
    @Test(
        "packets as large as the MTU pass whole, larger ones with DF do not", arguments: [1280, 1420, 9000])
    func largest(mtu: Int) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, mtu: mtu, outerMTU: mtu + 80)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            for (from, to) in pair.directions {
                // Echo requests with headers of 8 octets and of 20 (IPv4) or 40 (IPv6).
                let v4 = ["-M", "do", "-s", "\(mtu - 28)"]
                #expect(try await from.namespace.answers(to: 5, from: to.inner4, options: v4) == 5)
                let v6 = ["-M", "do", "-s", "\(mtu - 48)"]
                #expect(try await from.namespace.answers(to: 5, from: to.inner6, options: v6) == 5)
                let tooLarge = ["-M", "do", "-s", "\(mtu - 27)"]
                #expect(
                    try await from.namespace.answers(to: 1, from: to.inner4, within: 4, options: tooLarge)
                        == 0)
            }
        }
    }

    @Test("every size near the MTU and near a multiple of 16 passes")
    func everySize() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, left: .tested, right: .other)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            for size in [0, 1, 3, 4, 5, 19, 20, 21] + Array(1370...1392) {
                let options = ["-M", "do", "-s", "\(size)"]
                let count = try await pair.left.namespace.answers(
                    to: 1, from: pair.right.inner4, options: options)
                #expect(count == 1, "echo request of \(size) octets")
            }
        }
    }

    @Test(
        "fragments of an echo request of 8,000 octets pass in both families",
        arguments: [Implementation.tested, .other])
    func fragments(peer: Implementation) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, right: peer)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            for (from, to) in pair.directions {
                let large = ["-s", "8000"]
                #expect(try await from.namespace.answers(to: 5, from: to.inner4, options: large) == 5)
                #expect(try await from.namespace.answers(to: 5, from: to.inner6, options: large) == 5)
            }
        }
    }

    @Test("a change of the MTU at run time takes effect in both directions")
    func change() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, outerMTU: 9100)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            for mtu in [9000, 1280, 2000, 1420] {
                for end in [pair.left, pair.right] {
                    try await end.namespace.ip("link set \(end.daemon.interface) mtu \(mtu)")
                }
                let options = ["-M", "do", "-s", "\(mtu - 28)"]
                for (from, to) in pair.directions {
                    let count = try await from.namespace.answers(to: 5, from: to.inner4, options: options)
                    #expect(count == 5, "MTU \(mtu)")
                }
            }
            try await Transfer.check(
                lab, from: pair.left, to: pair.right, address: pair.right.inner4, megabytes: 4)
        }
    }

    @Test(
        "bulk TCP moves in both directions when the path takes less than the tunnel's MTU",
        arguments: Pair.Family.allCases)
    func narrowPath(family: Pair.Family) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, over: family, mtu: 1420, outerMTU: 1280)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            for (from, to) in pair.directions {
                try await Transfer.check(lab, from: from, to: to, address: to.inner4, megabytes: 4)
            }
        }
    }

    @Test("a lower MTU of the path that appears under traffic is followed")
    func pathShrinks() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            try await Transfer.check(
                lab, from: pair.left, to: pair.right, address: pair.right.inner4, megabytes: 2)
            for end in [pair.left, pair.right] { try await end.namespace.ip("link set cable mtu 1300") }
            for (from, to) in pair.directions {
                try await Transfer.check(lab, from: from, to: to, address: to.inner4, megabytes: 2)
            }
        }
    }
}
