// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

/// Who is at which end, and the family of the outer addresses.
struct Arrangement: Sendable, CustomTestStringConvertible {
    let left: Implementation
    let right: Implementation
    let family: Pair.Family

    var testDescription: String {
        "\(left.testDescription) starts, \(right.testDescription) answers, outer \(family.rawValue)"
    }

    /// Both orders of the two implementations, and ours alone, over each family.
    static let all: [Arrangement] = [
        (Implementation.tested, Implementation.tested), (.tested, .other), (.other, .tested),
    ].flatMap { ends in
        Pair.Family.allCases.map { Arrangement(left: ends.0, right: ends.1, family: $0) }
    }
}

@Suite("Traffic through the tunnel", .enabled(if: Machine.isReady, Machine.skipReason))
struct TrafficTests {
    @Test("echo requests of both families are answered in both directions", arguments: Arrangement.all)
    func echoes(arrangement: Arrangement) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(
                lab, left: arrangement.left, right: arrangement.right, over: arrangement.family)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            for (from, to) in pair.directions {
                #expect(try await from.namespace.answers(to: 20, from: to.inner4) == 20)
                #expect(try await from.namespace.answers(to: 20, from: to.inner6) == 20)
            }
            #expect(try await pair.left.daemon.latestHandshake() > 0)
            #expect(try await pair.right.daemon.latestHandshake() > 0)
            // The end that was given no endpoint learnt it from the first authenticated packet.
            let learnt = try await pair.right.daemon.show("endpoints").last
            let address = arrangement.family == .v4 ? pair.left.outer4 : "[\(pair.left.outer6)]"
            #expect(learnt == "\(address):\(Pair.port)")
        }
    }

    @Test("ten megabytes over TCP arrive intact in both directions", arguments: Arrangement.all)
    func bulk(arrangement: Arrangement) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(
                lab, left: arrangement.left, right: arrangement.right, over: arrangement.family)
            for (from, to) in pair.directions {
                try await Transfer.check(lab, from: from, to: to, address: to.inner4)
                try await Transfer.check(lab, from: from, to: to, address: to.inner6)
            }
        }
    }

    @Test("a preshared key on both ends is used", arguments: Arrangement.all.filter { $0.family == .v4 })
    func presharedKey(arrangement: Arrangement) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(
                lab, left: arrangement.left, right: arrangement.right, presharedKey: true)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            #expect(try await pair.left.daemon.show("preshared-keys").last != "(none)")
        }
    }

    @Test("no handshake completes when only one end has the preshared key")
    func presharedKeyAtOneEnd() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let key = try await Shell.check(["wg", "genpsk"]).standardOutput
            let path = try lab.file("psk", key)
            try await pair.right.daemon.wg(
                "set \(pair.right.daemon.interface) peer \(pair.left.publicKey) preshared-key \(path)")
            #expect(try await !pair.left.namespace.ping(pair.right.inner4, within: 3))
            #expect(try await pair.left.daemon.latestHandshake() == 0)
            try await pair.left.daemon.wg(
                "set \(pair.left.daemon.interface) peer \(pair.right.publicKey) preshared-key \(path)")
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
        }
    }

    @Test("UDP at a steady rate through the tunnel loses nothing")
    func steadyDatagrams() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            for (from, to) in pair.directions {
                // A busy machine may keep a reader from its socket or interface until the queue is full, which the
                // kernel counts: such a run says nothing. A loss that no full queue explains is the tunnel's.
                for attempt in 1...10 {
                    let before = try await fullQueues(from.namespace, to.namespace)
                    let lost = try await lostDatagrams(lab, from: from, to: to)
                    if lost == 0 { break }
                    let full = try await fullQueues(from.namespace, to.namespace) - before
                    try #require(full > 0, "\(lost) datagrams are lost, and no queue was full")
                    #expect(attempt < 10, "\(lost) datagrams are lost each time")
                }
            }
        }
    }

    /// Sends 5 Mbit/s for two seconds; returns how many datagrams did not arrive.
    private func lostDatagrams(_ lab: Lab, from: Pair.End, to: Pair.End) async throws -> Int {
        let server = try lab.spawn(in: to.namespace, "iperf3", "-s", "-1")
        try await Transfer.awaitListener(in: to.namespace, port: 5201)
        let output = try await from.namespace.check(
            "iperf3", "-c", to.inner4, "-u", "-b", "5M", "-l", "1200", "-t", "2", "--json")
        _ = try await server.wait(atMost: Shell.patience)
        let lost = output.lines.last { $0.contains("\"lost_packets\"") }.flatMap {
            Int($0.filter(\.isNumber))
        }
        return try #require(lost, "\(output)")
    }

    /// How often a packet came to a UDP socket or an interface of these namespaces that was full.
    private func fullQueues(_ namespaces: Namespace...) async throws -> Int {
        var count = 0
        for namespace in namespaces {
            let line = try await namespace.bash("grep '^Udp: [0-9]' /proc/net/snmp").text
            // InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors and others (RFC 4113 and the kernel's own).
            let numbers = line.split(separator: " ").dropFirst().compactMap { Int($0) }
            count += try #require(numbers.count > 4 ? numbers[4] : nil, "\(line)")
            // "name: bytes packets errs drop ..." of what was received, in eight numbers, and of what was sent.
            let interfaces = try await namespace.check("cat", "/proc/net/dev").lines.dropFirst(2)
            for line in interfaces {
                let words = (line.split(separator: ":").last ?? "").split(separator: " ")
                let numbers = words.compactMap { Int($0) }
                count += try #require(numbers.count > 11 ? numbers[3] + numbers[11] : nil, "\(line)")
            }
        }
        return count
    }

    @Test("both ends that start at once come to one session")
    func bothStart() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            try await pair.right.daemon.wg(
                "set \(pair.right.daemon.interface) peer \(pair.left.publicKey)"
                    + " endpoint \(pair.left.outer4):\(Pair.port)")
            async let one = pair.left.namespace.ping(pair.right.inner4)
            async let two = pair.right.namespace.ping(pair.left.inner6)
            let both = try await (one, two)
            #expect(both.0 && both.1)
            #expect(try await pair.left.namespace.answers(to: 50, from: pair.right.inner4) == 50)
        }
    }
}
