// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Store: the file")
struct StoreFileTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func open(createsFile: Bool = true) throws(StoreError) -> SQLiteStore {
        try SQLiteStore(directory: directory.path, createsFile: createsFile)
    }

    @Test("everything is there after a restart")
    func restart() async throws {
        let pools = [try Samples.pool()]
        let deviceID: String
        let key: SecretBytes
        do {
            let store = try open()
            #expect(try await store.addToken(Samples.token(name: "attic")))
            let device = try #require(await store.enrol(Samples.enrolment(pools: pools)).device)
            deviceID = device.id
            key = try await store.serverKey(orKeep: SecretBytes(randomByteCount: 32))
            let report = DeviceRecord.Report(
                status: "connected", isTunnelUp: true, lastHandshake: Samples.now, address: "192.0.2.9")
            let contact = Contact(
                deviceID: deviceID, at: Samples.now, nonce: ("n1", Samples.now.addingTimeInterval(600)),
                report: report)
            guard case .accepted = try await store.note(contact) else {
                Issue.record("a first contact is accepted")
                return
            }
        }
        let store = try open(createsFile: false)
        let device = try #require(await store.device(deviceID))
        #expect(device.report?.status == "connected")
        #expect(device.report?.isTunnelUp == true)
        #expect(device.report?.lastHandshake == Samples.now)
        #expect(device.report?.address == "192.0.2.9")
        #expect(device.lastSeen == Samples.now)
        #expect(try await store.tokens().first?.name == "attic")
        #expect(try await store.serverKey(orKeep: SecretBytes(randomByteCount: 32)).isEqual(to: key))
        let replay = Contact(
            deviceID: deviceID, at: Samples.now, nonce: ("n1", Samples.now.addingTimeInterval(600)))
        guard case .replayed = try await store.note(replay) else {
            Issue.record("a nonce is remembered over a restart")
            return
        }
    }

    @Test("the database and its helper files belong to the owner alone, whatever the mask")
    func modes() async throws {
        let former = umask(0)
        defer { umask(former) }
        let path = directory.file("state")
        let store = try SQLiteStore(directory: path, createsFile: true)
        #expect(try await store.addToken(Samples.token()))
        #expect(try directory.mode(of: "state") == 0o700)
        for name in ["control.db", "control.db-wal", "control.db-shm"] {
            #expect(try directory.mode(of: "state/\(name)") == 0o600)
        }
    }

    @Test("a missing database is an error that names it, unless it is to be made")
    func missing() throws {
        let path = directory.file("control.db")
        let error = #expect(throws: StoreError.self) { try open(createsFile: false) }
        #expect(error == .unavailable(path: path, reason: "No such file or directory"))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a symbolic link in place of the database is not followed")
    func link() throws {
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("control.db"), withDestinationPath: directory.file("elsewhere"))
        #expect(throws: StoreError.self) { try open() }
        #expect(!FileManager.default.fileExists(atPath: directory.file("elsewhere")))
    }

    @Test("a file that is no database is an error that says what to do")
    func garbage() throws {
        try directory.write(Array(repeating: 0x41, count: 8192), to: "control.db")
        let error = #expect(throws: StoreError.self) { try open() }
        #expect(error == .damaged(path: directory.file("control.db")))
        #expect(error?.description.contains("restore it from a backup") == true)
        #expect(try directory.bytes(of: "control.db") == Array(repeating: 0x41, count: 8192))
    }

    @Test("a damaged page is found when the store is opened")
    func damage() async throws {
        do {
            let store = try open()
            for number in 0..<500 { #expect(try await store.addToken(Samples.token("token-\(number)"))) }
        }
        var bytes = try directory.bytes(of: "control.db")
        // The header stays; from the second page on nothing makes sense.
        try #require(bytes.count > 16384)
        for index in 4096..<bytes.count { bytes[index] = 0xA5 }
        try directory.write(bytes, to: "control.db")
        #expect(throws: StoreError.damaged(path: directory.file("control.db"))) { try open() }
    }

    @Test("a database of another application, or of a newer release, is refused untouched")
    func foreign() throws {
        _ = try open()
        let path = directory.file("control.db")
        let good = try directory.bytes(of: "control.db")
        var newer = good
        // Bytes 60 to 63 of the header are the user version, 68 to 71 the application's number, big-endian.
        newer.replaceSubrange(60..<64, with: [0, 0, 0, 99])
        try directory.write(newer, to: "control.db")
        #expect(throws: StoreError.newer(path: path, version: 99)) { try open() }
        #expect(try directory.bytes(of: "control.db") == newer)
        var foreign = good
        foreign.replaceSubrange(68..<72, with: [1, 2, 3, 4])
        try directory.write(foreign, to: "control.db")
        #expect(throws: StoreError.foreign(path: path)) { try open() }
        try directory.write(good, to: "control.db")
        _ = try open()
    }

    @Test("changes by another connection are noticed, one's own are not")
    func foreignChanges() async throws {
        let store = try open()
        let other = try open()
        let before = try await store.foreignChanges()
        #expect(try await store.addToken(Samples.token("aaaaaaaa")))
        #expect(try await store.foreignChanges() == before)
        #expect(try await other.addToken(Samples.token("bbbbbbbb")))
        #expect(try await store.foreignChanges() != before)
    }

    @Test("keys of a revoked device are gone from the files")
    func erasure() async throws {
        let store = try open()
        #expect(try await store.addToken(Samples.token()))
        let enrolment = Samples.enrolment(pools: [try Samples.pool()])
        let device = try #require(await store.enrol(enrolment).device)
        let key = enrolment.keys.privateKey.withBytes { $0.withUnsafeBytes { Data($0) } }
        func holders() throws -> [String] {
            try ["control.db", "control.db-wal"].filter {
                Data(try directory.bytes(of: $0)).range(of: key) != nil
            }
        }
        #expect(try !holders().isEmpty)
        #expect(try await store.revokeDevice(device.id, as: .revoked, at: Samples.now))
        #expect(try holders().isEmpty)
    }
}
