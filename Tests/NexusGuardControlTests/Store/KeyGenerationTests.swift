// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Store: generations of keys, revocation and forwards")
struct KeyGenerationTests {
    let directory: TemporaryDirectory
    let store: SQLiteStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try SQLiteStore(directory: directory.path, createsFile: true)
    }

    private func device(_ token: String = "aaaaaaaa") async throws -> String {
        #expect(try await store.addToken(Samples.token(token)))
        let request = Samples.enrolment(token: token, pools: [try Samples.pool()])
        return try #require(await store.enrol(request).device).id
    }

    private func add(_ id: String) async throws -> Int? {
        try await store.addKeys(
            to: id, privateKey: SecretBytes(randomByteCount: 32),
            presharedKey: SecretBytes(randomByteCount: 32), at: Samples.now)
    }

    private func generations(_ id: String) async throws -> [Int] {
        try await store.device(id)?.keys.map(\.generation) ?? []
    }

    @Test("the first generation counts as delivered and as the one in use")
    func first() async throws {
        let record = try #require(await store.device(device()))
        #expect(record.keys.map(\.generation) == [1])
        #expect(record.keys.first?.deliveredAt == Samples.now)
        #expect(record.keysInUse?.generation == 1)
    }

    @Test("generations that a device cannot have are dropped when another one is made")
    func succession() async throws {
        let id = try await device()
        #expect(try await add(id) == 2)
        #expect(try await add(id) == 3)
        #expect(try await generations(id) == [1, 3])
        try await store.noteDelivery(of: 3, to: id, at: Samples.now)
        #expect(try await add(id) == 4)
        #expect(try await generations(id) == [1, 3, 4])
        try await store.noteDelivery(of: 4, to: id, at: Samples.now)
        #expect(try await add(id) == 5)
        #expect(try await generations(id) == [1, 4, 5])
        let record = try #require(await store.device(id))
        #expect(record.newestKeys?.generation == 5)
        #expect(record.keysInUse?.generation == 1)
    }

    @Test("the use of a generation ends those before it, and is news once")
    func use() async throws {
        let id = try await device()
        #expect(try await add(id) == 2)
        try await store.noteDelivery(of: 2, to: id, at: Samples.now)
        #expect(try await add(id) == 3)
        #expect(try await store.noteUse(of: 2, by: id, at: Samples.now))
        #expect(try await generations(id) == [2, 3])
        #expect(try await !store.noteUse(of: 2, by: id, at: Samples.now))
        #expect(try await !store.noteUse(of: 1, by: id, at: Samples.now))
        #expect(try await store.noteUse(of: 3, by: id, at: Samples.now))
        #expect(try await generations(id) == [3])
        #expect(try await store.device(id)?.keysInUse?.generation == 3)
    }

    @Test("only the first delivery is kept")
    func delivery() async throws {
        let id = try await device()
        #expect(try await add(id) == 2)
        try await store.noteDelivery(of: 2, to: id, at: Samples.now)
        try await store.noteDelivery(of: 2, to: id, at: Samples.now.addingTimeInterval(60))
        #expect(try await store.device(id)?.newestKeys?.deliveredAt == Samples.now)
    }

    @Test("nobody and the revoked get no keys")
    func noKeys() async throws {
        let id = try await device()
        #expect(try await add("nobody") == nil)
        #expect(try await store.revokeDevice(id, as: .revoked, at: Samples.now))
        #expect(try await add(id) == nil)
        #expect(try await !store.revokeDevice(id, as: .revoked, at: Samples.now))
        #expect(try await !store.revokeDevice("nobody", as: .revoked, at: Samples.now))
    }

    @Test("a public port has one forward for each protocol; the device must be there")
    func forwards() async throws {
        let id = try await device()
        let other = try await device("bbbbbbbb")
        func record(_ device: String, _ transport: PortForward.TransportProtocol = .tcp, _ port: UInt16 = 80)
            throws -> ForwardRecord
        {
            let forward = PortForward(
                transportProtocol: transport, publicPort: port, targetAddress: try IPAddress("fd00::5"),
                targetPort: 8080)
            return ForwardRecord(deviceID: device, forward: forward, createdAt: Samples.now)
        }
        #expect(try await store.addForward(record(id)) == nil)
        #expect(try await store.addForward(record(other)) == .taken(deviceID: id))
        #expect(try await store.addForward(record(other, .udp)) == nil)
        #expect(try await store.addForward(record("nobody", .tcp, 81)) == .unknownDevice)
        #expect(try await store.forwards(of: nil) == [record(id), record(other, .udp)])
        #expect(try await store.forwards(of: other) == [record(other, .udp)])
        #expect(try await store.removeForward(.udp, publicPort: 80))
        #expect(try await !store.removeForward(.udp, publicPort: 80))
        #expect(try await store.revokeDevice(id, as: .deprovisioned, at: Samples.now))
        #expect(try await store.forwards(of: nil).isEmpty)
        #expect(try await store.addForward(record(id)) == .unknownDevice)
    }

    @Test("a device has at most as many forwards as devices read")
    func manyForwards() async throws {
        let id = try await device()
        for port in 1...UInt16(PortForward.largestCount + 1) {
            let forward = PortForward(
                transportProtocol: .tcp, publicPort: port, targetAddress: try IPAddress("10.0.0.5"),
                targetPort: 80)
            let refusal = try await store.addForward(
                ForwardRecord(deviceID: id, forward: forward, createdAt: Samples.now))
            #expect(refusal == (port <= PortForward.largestCount ? nil : .tooMany))
        }
    }

    @Test("all devices are listed with their keys, the oldest first")
    func list() async throws {
        let first = try await device()
        let second = try await device("bbbbbbbb")
        #expect(try await add(second) == 2)
        #expect(try await store.revokeDevice(first, as: .revoked, at: Samples.now))
        let devices = try await store.devices()
        #expect(Set(devices.map(\.id)) == [first, second])
        #expect(devices.first { $0.id == first }?.keys.isEmpty == true)
        #expect(devices.first { $0.id == first }?.revocation?.kind == .revoked)
        #expect(devices.first { $0.id == second }?.keys.map(\.generation) == [1, 2])
        let whole = try #require(await store.device(second)).keys
        for (listed, known) in zip(devices.first { $0.id == second }?.keys ?? [], whole) {
            #expect(listed.privateKey.isEqual(to: known.privateKey))
        }
    }
}
