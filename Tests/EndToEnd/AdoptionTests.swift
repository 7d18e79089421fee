// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Testing

@Suite("Descriptors that a caller opened", .enabled(if: Machine.isReady, Machine.skipReason))
struct AdoptionTests {
    @Test("WG_TUN_FD and WG_UAPI_FD are used: wg answers, and packets pass")
    func adoption() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let (left, right) = (pair.left, pair.right)
            #expect(try await left.namespace.ping(right.inner4))

            // The left end again, on an interface that another program opened.
            let key = try await left.daemon.show("private-key").last ?? ""
            let keyFile = lab.path(of: "key")
            try Data(key.utf8).write(to: URL(fileURLWithPath: keyFile))
            try await left.namespace.ip("link del \(left.daemon.interface)")
            try await left.namespace.awaitFreePort(Pair.port)
            let interface = lab.interfaceName()
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("Scripts/adopt.py").path
            let child = try lab.spawn(
                in: left.namespace, "python3", script, Implementation.tested.path, interface,
                Daemon.socketPath(of: interface))
            try await Shell.eventually("wg answers") {
                try await left.namespace.run("wg", "show", interface).succeeded
            }
            let peer = try await right.daemon.show("public-key").last ?? ""
            try await left.namespace.check(
                "wg", "set", interface, "private-key", keyFile, "listen-port", "\(Pair.port)", "peer", peer,
                "allowed-ips", "\(right.inner4)/32", "endpoint", "\(right.outer4):\(Pair.port)")
            try await left.namespace.ip("addr add \(left.inner4)/24 dev \(interface)")
            try await left.namespace.ip("link set \(interface) up")
            #expect(try await left.namespace.ping(right.inner4))
            #expect(try await child.stop().status == 0)
        }
    }
}
