// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

@Suite("What is seen on the wire", .enabled(if: Machine.isReady, Machine.skipReason))
struct WireTests {
    @Test("inner packets are padded to 16 octets but never beyond the MTU")
    func padding() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, mtu: 1420)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            for innerLength in [28, 31, 32, 33, 48, 1392, 1400, 1408, 1409, 1419, 1420] {
                let capture = try await Capture(
                    lab, in: pair.right.namespace, on: "cable", "udp and src host \(pair.left.outer4)")
                let options = ["-M", "do", "-s", "\(innerLength - 28)"]
                let count = try await pair.left.namespace.answersInTurn(
                    to: 3, from: pair.right.inner4, options: options)
                #expect(count == 3)
                let data = try await capture.stop().map(\.payload).filter { $0.first == 4 && $0.count > 32 }
                let padded = min((innerLength + 15) / 16 * 16, 1420)
                #expect(data.count == 3, "inner length \(innerLength)")
                #expect(data.allSatisfy { $0.count == padded + 32 }, "\(innerLength): \(data.map(\.count))")
            }
        }
    }

    @Test("handshake messages and keepalives have their exact sizes")
    func sizes() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let capture = try await Capture(
                lab, in: pair.right.namespace, on: "cable", "udp port \(Pair.port)")
            let daemon = pair.left.daemon
            try await daemon.wg("set \(daemon.interface) peer \(pair.right.publicKey) persistent-keepalive 1")
            try await Shell.eventually("a handshake by the keepalive") {
                try await pair.right.daemon.latestHandshake() > 0
            }
            // An initiation of 148 octets, the keepalive that confirms the session, and one of the interval.
            try await Shell.eventually("keepalives have come") {
                try await pair.right.daemon.transfer().received >= 148 + 2 * 32
            }
            let payloads = try await capture.stop().map(\.payload)
            #expect(payloads.filter { $0.first == 1 }.allSatisfy { $0.count == 148 })
            #expect(payloads.filter { $0.first == 2 }.allSatisfy { $0.count == 92 })
            #expect(payloads.contains { $0.first == 1 } && payloads.contains { $0.first == 2 })
            let keepalives = payloads.filter { $0.first == 4 && $0.count == 32 }
            #expect(!keepalives.isEmpty)
            // The reserved octets are zero.
            #expect(payloads.allSatisfy { $0.count >= 32 && $0[1...3].allSatisfy { $0 == 0 } })
        }
    }

    @Test(
        "the outer packet has the inner ECN and no DSCP; handshakes have DSCP 0x88",
        .enabled(if: Implementation.isOurs), arguments: Pair.Family.allCases)
    func trafficClass(family: Pair.Family) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, over: family)
            let handshake = try await Capture(
                lab, in: pair.right.namespace, on: "cable", "udp port \(Pair.port)")
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            let first = try await handshake.stop()
            let initiations = first.filter { $0.payload.first == 1 }
            let responses = first.filter { $0.payload.first == 2 }
            #expect(!initiations.isEmpty && !responses.isEmpty)
            #expect((initiations + responses).allSatisfy { $0.trafficClass == 0x88 })
            for (inner, outer) in [
                (0x00, 0x00), (0x01, 0x01), (0x02, 0x02), (0x03, 0x03), (0xb8, 0x00), (0xba, 0x02),
            ] {
                for address in [pair.right.inner4, pair.right.inner6] {
                    let capture = try await Capture(
                        lab, in: pair.right.namespace, on: "cable", "udp src port \(Pair.port)")
                    let options = ["-Q", "\(inner)"]
                    let count = try await pair.left.namespace.answersInTurn(
                        to: 2, from: address, options: options)
                    #expect(count == 2)
                    let data = try await capture.stop().filter {
                        $0.payload.first == 4 && $0.payload.count > 64
                    }
                    // An echo reply repeats the traffic class of its request, so both directions are alike.
                    #expect(data.count == 4)
                    #expect(
                        data.allSatisfy { Int($0.trafficClass) == outer },
                        "inner \(inner): \(data.map(\.trafficClass))")
                }
            }
        }
    }

    @Test(
        "congestion marked on the path reaches the inner packet, or drops one that cannot carry it",
        .enabled(if: Implementation.isOurs), arguments: Pair.Family.allCases)
    func congestionExperienced(family: Pair.Family) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, over: family)
            let (left, right) = (pair.left, pair.right)
            #expect(try await left.namespace.ping(right.inner4))
            try await left.namespace.check("nft", "add table inet path")
            try await left.namespace.check(
                "nft", "add chain inet path post { type filter hook postrouting priority -150; }")
            let field = family == .v4 ? "ip" : "ip6"
            try await left.namespace.check(
                "nft", "add rule inet path post udp dport \(Pair.port) \(field) ecn set ce")
            let capture = try await Capture(
                lab, in: right.namespace, on: right.daemon.interface, "icmp or icmp6")
            for address in [right.inner4, right.inner6] {
                let count = try await left.namespace.answersInTurn(
                    to: 3, from: address, options: ["-Q", "2"])
                #expect(count == 3)
                let lost = try await left.namespace.answers(
                    to: 3, from: address, within: 4, options: ["-Q", "0"])
                #expect(lost == 0)
            }
            let requests = try await capture.stop().filter { packet in
                packet.version == 4
                    ? packet.bytes.count > 20 && packet.bytes[20] == 8
                    : packet.bytes.count > 40 && packet.bytes[40] == 128
            }
            #expect(requests.count == 6)
            #expect(requests.allSatisfy { $0.trafficClass & 3 == 3 }, "\(requests.map(\.trafficClass))")
        }
    }
}
