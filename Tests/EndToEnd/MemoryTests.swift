// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

@Suite("Memory of the daemon", .enabled(if: Machine.isReady, Machine.skipReason))
struct MemoryTests {
    @Test(
        "under 10 MB idle without peers, and under 30 MB after half a gigabyte of traffic",
        .enabled(if: Implementation.isOurs))
    func resident() async throws {
        try await Lab.with { lab in
            let namespace = try await lab.namespace()
            let idle = try await Daemon(.tested, in: namespace, lab)
            try await namespace.ip("link set \(idle.interface) up")
            let idleKiB = try idle.residentKiB()
            #expect(idleKiB < 10_000_000 / 1024, "\(idleKiB) KiB idle")

            let pair = try await Pair(lab)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            for (from, to) in pair.directions {
                try await Transfer.flow(lab, from: from, to: to, address: to.inner4, mebibytes: 256)
            }
            for end in [pair.left, pair.right] {
                let loadedKiB = try end.daemon.residentKiB()
                print("resident: \(idleKiB) KiB idle, \(loadedKiB) KiB after the load")
                #expect(loadedKiB < 30_000_000 / 1024, "\(loadedKiB) KiB after the load")
            }
        }
    }
}
