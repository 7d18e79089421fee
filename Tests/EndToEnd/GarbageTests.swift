// SPDX-License-Identifier: MIT

internal import Foundation
internal import Harness
internal import Testing

@Suite("Garbage at the port", .enabled(if: Machine.isReady, Machine.skipReason))
struct GarbageTests {
    /// Sends each datagram to the left end's port from a port of the system's choice at the right end.
    private func send(
        _ datagrams: [[UInt8]], _ lab: Lab, from namespace: Namespace, to address: String
    ) async throws {
        var line = ""
        for datagram in datagrams {
            let path = lab.path(of: Lab.uniqueName() + ".bin")
            try Data(datagram).write(to: URL(fileURLWithPath: path))
            // One read and one write, so one datagram.
            line += "dd if=\(path) bs=65536 status=none > /dev/udp/\(address)/\(Pair.port)\n"
        }
        try await namespace.bash(line)
    }

    /// Datagrams of wrong lengths and contents; the bytes are a fixed pattern.
    private static let garbage: [[UInt8]] = {
        func bytes(_ count: Int, _ seed: Int) -> [UInt8] {
            (0..<count).map { UInt8(($0 * 167 + seed * 59) % 251) }
        }
        var all: [[UInt8]] = []
        for length in [
            1, 3, 4, 15, 16, 31, 32, 33, 63, 64, 65, 91, 92, 93, 147, 148, 149, 1500, 9000, 65_507,
        ] {
            all.append(bytes(length, length))
            for kind in 0...5 where length >= 4 {
                all.append([UInt8(kind), 0, 0, 0] + bytes(length - 4, kind))
                // Reserved octets that are not zero.
                all.append([UInt8(kind), 0, 0, 1] + bytes(length - 4, kind))
            }
        }
        return all
    }()

    @Test(
        "no answer to truncated, oversized and forged datagrams, and the tunnel works on",
        arguments: Pair.Family.allCases)
    func forged(family: Pair.Family) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, over: family)
            let (left, right) = (pair.left, pair.right)
            #expect(try await left.namespace.ping(right.inner4))
            let endpoint = try await left.daemon.show("endpoints").last
            let answers = try await Counter(
                in: left.namespace, "output", "udp sport \(Pair.port) udp dport != \(Pair.port)")
            let target = family == .v4 ? left.outer4 : left.outer6
            try await send(Self.garbage, lab, from: right.namespace, to: target)
            #expect(try await left.namespace.answers(to: 10, from: right.inner4) == 10)
            #expect(try await right.namespace.answers(to: 10, from: left.inner6) == 10)
            #expect(try await answers.packets() == 0)
            #expect(try await left.daemon.show("endpoints").last == endpoint)
            #expect(left.daemon.isRunning)
        }
    }

    @Test("a flood of forged initiations costs no memory, and the tunnel works afterwards")
    func flood() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let (left, right) = (pair.left, pair.right)
            #expect(try await left.namespace.ping(right.inner4))
            let before = try left.daemon.residentKiB()
            let path = lab.path(of: "flood.bin")
            let forged = [1, 0, 0, 0] + [UInt8](repeating: 0x5a, count: 144)
            try Data((0..<20_000).flatMap { _ in forged }).write(to: URL(fileURLWithPath: path))
            let answers = try await Counter(
                in: left.namespace, "output", "udp sport \(Pair.port) udp dport != \(Pair.port)")
            try await right.namespace.bash(
                "for round in 1 2 3; do"
                    + " dd if=\(path) bs=148 status=none > /dev/udp/\(left.outer4)/\(Pair.port); done")
            #expect(try await left.namespace.ping(right.inner4))
            #expect(try await answers.packets() == 0)
            let after = try left.daemon.residentKiB()
            #expect(after < before + 32 * 1024, "\(before) KiB before, \(after) KiB after")
        }
    }

    @Test("replayed messages get no answer and move no endpoint")
    func replayed() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let (left, right) = (pair.left, pair.right)
            let capture = try await Capture(
                lab, in: right.namespace, on: "cable", "udp and src host \(right.outer4)")
            let initiations = try await Capture(
                lab, in: right.namespace, on: "cable", "udp and src host \(left.outer4)")
            #expect(try await left.namespace.ping(right.inner4))
            #expect(try await left.namespace.answersInTurn(to: 5, from: right.inner4) == 5)
            let fromRight = try await capture.stop().map(\.payload)
            let fromLeft = try await initiations.stop().map(\.payload)
            #expect(fromRight.contains { $0.first == 2 } && fromRight.contains { $0.first == 4 })
            #expect(fromLeft.contains { $0.first == 1 } && fromLeft.contains { $0.first == 4 })

            for (end, peer, messages) in [(left, right, fromRight), (right, left, fromLeft)] {
                let endpoint = try await end.daemon.show("endpoints").last
                let handshake = try await end.daemon.latestHandshake()
                let answers = try await Counter(
                    in: end.namespace, "output", "udp sport \(Pair.port) udp dport != \(Pair.port)")
                try await send(messages, lab, from: peer.namespace, to: end.outer4)
                // With one bit of the tag turned.
                let turned = messages.map { $0.dropLast() + [($0.last ?? 0) ^ 1] }.map(Array.init)
                try await send(turned, lab, from: peer.namespace, to: end.outer4)
                #expect(try await end.namespace.answers(to: 5, from: peer.inner4) == 5)
                #expect(try await answers.packets() == 0)
                #expect(try await end.daemon.show("endpoints").last == endpoint)
                #expect(try await end.daemon.latestHandshake() == handshake)
            }
        }
    }
}
