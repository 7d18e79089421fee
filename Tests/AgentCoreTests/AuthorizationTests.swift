// SPDX-License-Identifier: MIT

import AgentCore
import Harness
import Testing

/// An entry of `Fixtures/agent/authorization.json`.
private struct AuthorizationVector: Decodable, CustomTestStringConvertible {
    let name: String
    let token: String
    let hwid: String
    let method: String
    let path: String
    let timestamp: Int64
    let nonce: String
    let body: String
    let device: String
    let header: String
    let responseKey: String

    enum CodingKeys: String, CodingKey {
        case name, token, hwid, method, path, timestamp, nonce, body, device, header
        case responseKey = "response_key"
    }

    var testDescription: String { name }
    var key: ProvisioningKey { CryptoManager.deriveKey(token: token, hwid: hwid) }

    static let all: [AuthorizationVector] = (try? Fixture.load("agent/authorization.json")) ?? []
}

/// A memory that the macros of the tests can call.
private final class Memory {
    private var memory: NonceMemory

    init(_ memory: NonceMemory = NonceMemory()) { self.memory = memory }

    var count: Int { memory.count }

    func accept(_ proof: RequestAuthorization, now: Int64) -> Bool { memory.accept(proof, now: now) }
}

@Suite("the proof in requests")
struct AuthorizationTests {
    private static let key = CryptoManager.deriveKey(token: "t", hwid: "h")

    /// A proof by the device `device` at 1,000,000 s with a nonce of its own.
    private static func proof(
        _ number: UInt64, device: String = "device", at timestamp: Int64 = 1_000_000
    ) -> RequestAuthorization {
        var random = SeededGenerator(seed: number)
        return RequestAuthorization(
            method: "POST", path: "/p", timestamp: timestamp, nonce: random.bytes(16), body: [],
            deviceID: device, key: key)
    }

    @Test("the vectors are there")
    func complete() {
        #expect(AuthorizationVector.all.count == 3)
    }

    @Test("the header is that of the vector", arguments: AuthorizationVector.all)
    private func builds(_ vector: AuthorizationVector) {
        let header = CryptoManager.requestAuthorization(
            method: vector.method, path: vector.path, timestamp: vector.timestamp,
            nonce: Fixture.hex(vector.nonce), body: Fixture.hex(vector.body), deviceID: vector.device,
            key: vector.key)
        #expect(header == vector.header)
        let responseKey = CryptoManager.heartbeatResponseKey(vector.key)
        #expect(
            responseKey.withBytes { Hexadecimal.text($0.withUnsafeBytes { Array($0) }) } == vector.responseKey
        )
    }

    @Test("the vector's header is read and valid for its request alone", arguments: AuthorizationVector.all)
    private func verifies(_ vector: AuthorizationVector) throws {
        let proof = try #require(RequestAuthorization(header: vector.header))
        #expect(proof.deviceID == vector.device)
        #expect(proof.timestamp == vector.timestamp)
        #expect(proof.nonce == Fixture.hex(vector.nonce))
        let body = Fixture.hex(vector.body)
        #expect(proof.isValid(method: vector.method, path: vector.path, body: body, key: vector.key))
        #expect(!proof.isValid(method: "PUT", path: vector.path, body: body, key: vector.key))
        #expect(!proof.isValid(method: vector.method, path: vector.path + "/", body: body, key: vector.key))
        #expect(!proof.isValid(method: vector.method, path: vector.path, body: body + [0], key: vector.key))
        #expect(!proof.isValid(method: vector.method, path: vector.path, body: body, key: Self.key))
        // Each change of time, nonce and mac spoils it.
        for part in ["ts=1", "nonce=\"", "mac=\""] {
            let header = vector.header
            let range = try #require(header.firstRange(of: part))
            let place = part.hasSuffix("\"") ? range.upperBound : header.index(before: range.upperBound)
            var changed = header
            changed.replaceSubrange(place...place, with: header[place] == "2" ? "3" : "2")
            let other = try #require(RequestAuthorization(header: changed))
            #expect(!other.isValid(method: vector.method, path: vector.path, body: body, key: vector.key))
        }
    }

    @Test("the order of parameters and the case of the scheme do not count")
    func order() throws {
        let proof = Self.proof(1)
        let parts = proof.header.split(separator: " ", maxSplits: 1)[1].split(separator: ",")
        let header = "nexusguard-hmac " + parts.reversed().joined(separator: " , ")
        #expect(RequestAuthorization(header: header) == proof)
    }

    @Test("each proof has a nonce of its own")
    func nonces() throws {
        let headers = (0..<100).map { _ in
            CryptoManager.requestAuthorization(
                method: "POST", path: "/p", timestamp: 1, body: [], deviceID: "d", key: Self.key)
        }
        let nonces = headers.compactMap { RequestAuthorization(header: $0)?.nonce }
        #expect(Set(nonces).count == 100)
    }

    @Test("headers of another form are refused")
    func malformed() {
        let header = Self.proof(1).header
        #expect(RequestAuthorization(header: header) != nil)
        var refused = [
            "", "NexusGuard-HMAC", "NexusGuard-HMAC ", "Bearer abc", "Basic dXNlcjpwYXNz",
            header + ", v=1", header + ", extra=1", header + ",", String(header.dropLast()),
            header.replacing("v=1", with: "v=2"), header.replacing("ts=1000000", with: "ts=-1"),
            header.replacing("ts=1000000", with: "ts="), header.replacing("ts=1000000", with: "ts=1e6"),
            header.replacing("ts=1000000", with: "ts=9999999999999999999"),
            header.replacing("device=\"device\"", with: "device=\"\""),
            header.replacing("device=\"device\"", with: "device=\"a%0ab\""),
            header.replacing("device=\"device\"", with: "device=\"a%ff\""),
            header.replacing("device=\"device\"", with: "device=\"a%2\""),
            header.replacing("device=\"device\"", with: "device=\"é\""),
            header.replacing("device=\"device\"", with: "device=\"a\"b\""),
            header.replacing("device=\"device\"", with: "device=\"\(String(repeating: "d", count: 129))\""),
            header.replacing("nonce=\"", with: "nonce=\"00"), header.replacing("mac=\"", with: "mac=\"00"),
            header.replacing("mac=\"", with: "mac=\"g"), header + String(repeating: " ", count: 1024),
        ]
        for name in ["v", "device", "ts", "nonce", "mac"] {
            refused.append(header.replacing("\(name)=", with: "other="))
        }
        for text in refused { #expect(RequestAuthorization(header: text) == nil, "\(text)") }
    }

    @Test("a proof is timely for 300 s on either side")
    func timely() {
        let proof = Self.proof(1)
        for (now, isTimely) in [
            (999_699, false), (999_700, true), (1_000_000, true), (1_000_300, true), (1_000_301, false),
            (Int64.min, false), (Int64.max, false), (0, false),
        ] as [(Int64, Bool)] {
            #expect(proof.isTimely(now: now) == isTimely, "\(now)")
        }
    }

    @Test("no nonce is accepted twice while it is timely, and all are forgotten afterwards")
    func replay() {
        let memory = Memory()
        let proof = Self.proof(1)
        #expect(memory.accept(proof, now: 1_000_000))
        #expect(!memory.accept(proof, now: 1_000_000))
        #expect(!memory.accept(proof, now: 1_000_300))
        #expect(!memory.accept(proof, now: 1_000_301))
        // The same nonce of another device is another one.
        #expect(memory.accept(Self.proof(1, device: "other"), now: 1_000_000))
        #expect(memory.count == 2)
        #expect(memory.accept(Self.proof(2, at: 1_000_301), now: 1_000_301))
        #expect(memory.count == 1)
        #expect(memory.accept(Self.proof(3, at: 9_000_000), now: 9_000_000))
        #expect(memory.count == 1)
    }

    @Test("a clock that is set back opens no way to replay what was forgotten")
    func clockBack() {
        let memory = Memory()
        #expect(memory.accept(Self.proof(1), now: 1_000_000))
        #expect(memory.accept(Self.proof(2, at: 1_000_600), now: 1_000_600))
        #expect(!memory.accept(Self.proof(1), now: 1_000_000))
        #expect(!memory.accept(Self.proof(2, at: 1_000_600), now: 1_000_400))
        #expect(memory.accept(Self.proof(3, at: 1_000_400), now: 1_000_400))
    }

    @Test("the memory is bounded for each device and in all, and refuses what it could not remember")
    func bounded() {
        let memory = Memory(NonceMemory(capacity: 10, capacityOfDevice: 4))
        for number in 0..<20 as Range<UInt64> {
            #expect(memory.accept(Self.proof(number, device: "a"), now: 1_000_000) == (number < 4))
        }
        for number in 0..<20 as Range<UInt64> {
            let device = "device \(number)"
            #expect(memory.accept(Self.proof(number, device: device), now: 1_000_000) == (number < 6))
        }
        #expect(memory.count == 10)
        #expect(memory.accept(Self.proof(50, device: "a", at: 1_000_301), now: 1_000_301))
        #expect(memory.count == 1)
    }

    @Test("it agrees with a memory that forgets nothing", arguments: 0..<10 as Range<UInt64>)
    func model(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let memory = Memory()
        var seen: Set<RequestAuthorization> = []
        var now: Int64 = 1_000_000
        for _ in 0..<500 {
            now += Int64.random(in: 0...40, using: &random)
            let time = now + Int64.random(in: -320...320, using: &random)
            let proof = Self.proof(UInt64.random(in: 0..<8, using: &random), at: time / 10 * 10)
            // Of two proofs with one nonce both are new to the model when their times differ.
            let isKnown = seen.contains { $0.nonce == proof.nonce && $0.timestamp + 300 >= now }
            let isTimely = abs(now - proof.timestamp) <= 300
            #expect(memory.accept(proof, now: now) == (isTimely && !isKnown), "seed \(seed)")
            if isTimely, !isKnown { seen.insert(proof) }
        }
    }
}
