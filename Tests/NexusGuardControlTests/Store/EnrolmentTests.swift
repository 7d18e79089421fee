// SPDX-License-Identifier: MIT

import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Store: enrolment")
struct EnrolmentTests {
    let directory: TemporaryDirectory
    let store: SQLiteStore
    let pools: [AddressPool]

    init() throws {
        directory = try TemporaryDirectory()
        store = try SQLiteStore(directory: directory.path, createsFile: true)
        pools = [try Samples.pool(), try Samples.pool("fd00:21::/64")]
    }

    @Test("a token gives one identity, and the same one when its device asks again")
    func idempotence() async throws {
        #expect(try await store.addToken(Samples.token(name: "attic")))
        let first = try await store.enrol(Samples.enrolment(pools: pools))
        let second = try await store.enrol(Samples.enrolment(pools: pools))
        #expect(first.name == "created")
        #expect(second.name == "existing")
        let device = try #require(first.device)
        let again = try #require(second.device)
        #expect(again.id == device.id)
        #expect(again.addresses.map(\.description) == ["10.172.21.2", "fd00:21::2"])
        let keys = try #require(device.newestKeys)
        let keysAgain = try #require(again.newestKeys)
        #expect(keysAgain.privateKey.isEqual(to: keys.privateKey))
        #expect(device.name == "attic")
        #expect(try await store.devices().count == 1)
        #expect(try await store.tokens().first?.state(at: Samples.now) == .used)
        #expect(try await store.tokens().first?.deviceID == device.id)
    }

    @Test("a used token is refused to another hardware identifier, and stays with the first")
    func otherHardware() async throws {
        #expect(try await store.addToken(Samples.token()))
        let device = try #require(await store.enrol(Samples.enrolment(pools: pools)).device)
        let other = try await store.enrol(Samples.enrolment(hwid: "hwid-2", pools: pools))
        #expect(other.name == "bound elsewhere")
        #expect(try await store.devices().map(\.id) == [device.id])
    }

    @Test("an unknown token, and a known identifier with another digest, are refused")
    func unknownToken() async throws {
        #expect(try await store.addToken(Samples.token()))
        #expect(try await store.enrol(Samples.enrolment(token: "bbbbbbbb", pools: pools)).name == "refused")
        let forged = Enrolment(
            tokenID: "aaaaaaaa", tokenDigest: Samples.digest(of: "cccccccc"), hwid: "hwid-1",
            provisioningKey: Samples.provisioningKey(token: "x", hwid: "y"), deviceID: "d",
            keys: Samples.keys(), pools: pools, at: Samples.now)
        #expect(try await store.enrol(forged).name == "refused")
        #expect(try await store.devices().isEmpty)
    }

    @Test("a token is refused from its expiry on, but a device that came in time may ask again later")
    func expiry() async throws {
        let limit = Samples.now.addingTimeInterval(60)
        #expect(try await store.addToken(Samples.token("aaaaaaaa", expiresAt: limit)))
        #expect(try await store.addToken(Samples.token("bbbbbbbb", expiresAt: limit)))
        let early = Samples.enrolment(pools: pools, at: limit.addingTimeInterval(-0.001))
        #expect(try await store.enrol(early).name == "created")
        #expect(try await store.enrol(Samples.enrolment(pools: pools, at: limit)).name == "existing")
        let late = Samples.enrolment(token: "bbbbbbbb", pools: pools, at: limit)
        #expect(try await store.enrol(late).name == "refused")
    }

    @Test("a token that was taken back is refused, before and after its use")
    func revokedToken() async throws {
        #expect(try await store.addToken(Samples.token()))
        #expect(try await store.addToken(Samples.token("bbbbbbbb")))
        #expect(try await store.enrol(Samples.enrolment(pools: pools)).name == "created")
        for id in ["aaaaaaaa", "bbbbbbbb"] {
            #expect(try await store.revokeToken(id, at: Samples.now))
            #expect(try await store.enrol(Samples.enrolment(token: id, pools: pools)).name == "refused")
        }
        #expect(try await !store.revokeToken("cccccccc", at: Samples.now))
        #expect(try await store.devices().filter { $0.revocation == nil }.count == 1)
    }

    @Test("a token whose device is revoked gives no second identity")
    func revokedDevice() async throws {
        #expect(try await store.addToken(Samples.token()))
        let device = try #require(await store.enrol(Samples.enrolment(pools: pools)).device)
        #expect(try await store.revokeDevice(device.id, as: .revoked, at: Samples.now))
        #expect(try await store.enrol(Samples.enrolment(pools: pools)).name == "refused")
        #expect(try await store.tokens().first?.state(at: Samples.now) == .revoked)
    }

    @Test("an exhausted pool refuses, keeps the token, and serves again when an address is free")
    func exhaustedPool() async throws {
        let small = [try Samples.pool("192.0.2.0/30")]
        #expect(try await store.addToken(Samples.token("aaaaaaaa")))
        #expect(try await store.addToken(Samples.token("bbbbbbbb")))
        let device = try #require(await store.enrol(Samples.enrolment(pools: small)).device)
        let request = Samples.enrolment(token: "bbbbbbbb", hwid: "hwid-2", pools: small)
        #expect(try await store.enrol(request).name == "pool exhausted")
        #expect(try await store.tokens().last?.state(at: Samples.now) == .unused)
        #expect(try await store.revokeDevice(device.id, as: .deprovisioned, at: Samples.now))
        let next = try #require(await store.enrol(request).device)
        #expect(next.addresses == device.addresses)
        #expect(next.id != device.id)
    }

    @Test("a hundred requests at once over two connections end in one identity")
    func concurrency() async throws {
        #expect(try await store.addToken(Samples.token()))
        let other = try SQLiteStore(directory: directory.path, createsFile: false)
        let outcomes = try await withThrowingTaskGroup(of: Enrolment.Outcome.self) { group in
            for number in 0..<100 {
                let connection = number.isMultiple(of: 2) ? store : other
                group.addTask { try await connection.enrol(Samples.enrolment(pools: pools)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.filter { $0.name == "created" }.count == 1)
        #expect(Set(outcomes.map { $0.device?.id }).count == 1)
        #expect(try await other.devices().count == 1)
    }

    @Test("a hundred tokens at once over two connections get a hundred different addresses")
    func concurrentDevices() async throws {
        let other = try SQLiteStore(directory: directory.path, createsFile: false)
        for number in 100..<200 { #expect(try await store.addToken(Samples.token("token-\(number)"))) }
        let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 100..<200 {
                let connection = number.isMultiple(of: 2) ? store : other
                group.addTask {
                    let request = Samples.enrolment(
                        token: "token-\(number)", hwid: "hwid-\(number)", pools: pools)
                    return try await connection.enrol(request).name
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 100 && outcomes.allSatisfy { $0 == "created" })
        let devices = try await store.devices()
        #expect(devices.count == 100)
        #expect(Set(devices.flatMap(\.addresses)).count == 200)
        let lowest = try Set((2...101).map { try IPAddress("10.172.21.\($0)") })
        #expect(Set(devices.flatMap(\.addresses).filter { !$0.isIPv6 }) == lowest)
    }
}
