// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Server peer", .serialized)
struct ServerTunnelTests {
    @Test("devices that were there before the start are reached, both ways")
    func start() async throws {
        let bench = try TunnelBench()
        let device = try await bench.enrol("aaaaaaaa")
        try await bench.start()
        let peer = try bench.connect(device)
        try await bench.exchange(peer, number: 1)
        // What a handshake shows is kept.
        try await eventually("the use of the keys is noted") {
            try await bench.store.device(device.id)?.keysInUse?.usedAt != nil
        }
        await bench.server.stop()
        #expect(bench.ends.value == 0)
    }

    @Test("a device that comes or goes leaves the others' sessions alone")
    func live() async throws {
        let bench = try TunnelBench()
        let first = try await bench.enrol("aaaaaaaa")
        try await bench.start()
        let firstPeer = try bench.connect(first)
        try await bench.exchange(firstPeer, number: 1)
        let handshake = try #require(try bench.handshake(first.newestKeys))

        let second = try await bench.enrol("bbbbbbbb")
        await bench.server.reconcile()
        let secondPeer = try bench.connect(second)
        try await bench.exchange(secondPeer, number: 2)
        try await bench.exchange(firstPeer, number: 3)

        #expect(try await bench.store.revokeDevice(second.id, as: .revoked, at: Date()))
        await bench.server.reconcile()
        let key = try #require(second.newestKeys?.wireGuardPrivateKey?.publicKey)
        #expect(try bench.tunnel.statistics.peers[key] == nil)
        let refused = MemoryInterface.packet(
            from: secondPeer.address, to: TunnelBench.serverAddress, number: 4)
        secondPeer.interface.send(refused)
        try await bench.exchange(firstPeer, number: 5)
        #expect(!bench.interface.delivered.contains(refused))
        // The same session all the time: no second handshake was needed.
        #expect(try bench.continues(first.newestKeys, since: handshake))
        await bench.server.stop()
    }

    @Test("the old keys work until the new ones are used, and not from then on; others notice nothing")
    func rotation() async throws {
        let bench = try TunnelBench()
        let device = try await bench.enrol("aaaaaaaa")
        let other = try await bench.enrol("bbbbbbbb")
        try await bench.start()
        let otherPeer = try bench.connect(other)
        try await bench.exchange(otherPeer, number: 1)
        let handshake = try #require(try bench.handshake(other.newestKeys))
        let oldPeer = try bench.connect(device)
        try await bench.exchange(oldPeer, number: 2)

        #expect(
            try await bench.store.addKeys(
                to: device.id, privateKey: SecretBytes(randomByteCount: 32),
                presharedKey: SecretBytes(randomByteCount: 32), at: Date()) == 2)
        await bench.server.reconcile()
        try await bench.exchange(oldPeer, number: 3)

        let rotated = try #require(await bench.store.device(device.id))
        #expect(rotated.keys.map(\.generation) == [1, 2])
        try await bench.store.noteDelivery(of: 2, to: device.id, at: Date())
        let newPeer = try bench.connect(rotated)
        try await bench.exchange(newPeer, number: 4)
        try await eventually("the old keys are gone") {
            try await bench.store.device(device.id)?.keys.map(\.generation) == [2]
        }
        let oldKey = try #require(device.newestKeys?.wireGuardPrivateKey?.publicKey)
        try await eventually("the server no longer knows the old key") {
            try bench.tunnel.statistics.peers[oldKey] == nil
        }
        try await bench.exchange(newPeer, number: 5)
        try await bench.exchange(otherPeer, number: 6)
        #expect(try bench.continues(other.newestKeys, since: handshake))
        await bench.server.stop()
    }

    @Test("what another process changes is followed without being told")
    func otherProcess() async throws {
        let bench = try TunnelBench()
        try await bench.start()
        let other = try SQLiteStore(directory: bench.directory.path, createsFile: false)
        let device = try await bench.enrol("aaaaaaaa", in: other)
        let key = try #require(device.newestKeys?.wireGuardPrivateKey?.publicKey)
        try await eventually("the device is a peer") { try bench.tunnel.statistics.peers[key] != nil }
        let peer = try bench.connect(device)
        try await bench.exchange(peer, number: 1)
        #expect(try await other.revokeDevice(device.id, as: .revoked, at: Date()))
        try await eventually("the device is no peer") { try bench.tunnel.statistics.peers[key] == nil }
        await bench.server.stop()
    }

    @Test("many changes at once end in what the store says")
    func manyAtOnce() async throws {
        let bench = try TunnelBench()
        try await bench.start()
        let devices = try await withThrowingTaskGroup(of: DeviceRecord.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let device = try await bench.enrol("token-\(number + 10)")
                    await bench.server.reconcile()
                    let key = device.newestKeys?.wireGuardPrivateKey?.publicKey
                    let peers = try bench.tunnel.statistics.peers
                    // A caller's own change is in the tunnel when its call returns.
                    guard let key, peers[key] != nil else { throw NeverTrue(description: "peer is absent") }
                    return device
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let keys = devices.compactMap { $0.newestKeys?.wireGuardPrivateKey?.publicKey }
        #expect(try Set(bench.tunnel.statistics.peers.keys) == Set(keys))
        await bench.server.stop()
    }

    @Test("the end of the interface is told once; an ordered end is not")
    func end() async throws {
        let bench = try TunnelBench()
        try await bench.start()
        bench.interface.remove()
        try await eventually("the end is told") { bench.ends.value > 0 }
        await bench.server.stop()
        #expect(bench.ends.value == 1)
        #expect(await bench.server.running == nil)
    }
}
