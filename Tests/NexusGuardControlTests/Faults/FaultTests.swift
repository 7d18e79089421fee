// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Faults")
struct FaultTests {
    private let envelope = [(name: "X-NexusGuard-Envelope", value: "aes-256-gcm")]

    @Test(
        "each form is read",
        arguments: [
            ("delay=2s", Fault(.delay(.seconds(2)))), ("delay=500ms", Fault(.delay(.milliseconds(500)))),
            ("drop", Fault(.drop)), ("drop-after", Fault(.dropAfter)), ("status=503", Fault(.status(503))),
            ("garbage", Fault(.garbage)), ("truncate", Fault(.truncate)), ("wrong-tag", Fault(.wrongTag)),
            ("wrong-key", Fault(.wrongKey)), ("html", Fault(.html)), ("other-device", Fault(.otherDevice)),
            ("rotate-every=3", Fault(.rotateEvery(3))), ("oversize=70000", Fault(.oversize(70000))),
            ("retry-after=120", Fault(.retryAfter("120"))),
            ("bad-field=endpoint", Fault(.badField("endpoint"))),
            ("redirect=http://a.example/?x=1", Fault(.redirect("http://a.example/?x=1"))),
            ("redirect=http://u@a.example/", Fault(.redirect("http://u@a.example/"))),
            ("status=500@heartbeat", Fault(.status(500), endpoint: .heartbeat)),
            ("drop@provision*2", Fault(.drop, endpoint: .provision, count: 2)),
            ("html*1", Fault(.html, count: 1)),
        ])
    func parsing(text: String, fault: Fault) throws {
        #expect(try Fault(text) == fault)
    }

    @Test(
        "what makes no sense is refused with the text repeated",
        arguments: [
            "", "explode", "drop=1", "delay", "delay=", "delay=2y", "delay=2h1", "status=99", "status=600",
            "status=abc", "status", "rotate-every=0", "rotate-every=x", "oversize=0", "drop*0",
            "drop@nowhere",
            "bad-field=", "retry-after=a\nb", "redirect=a b",
        ])
    func refusals(text: String) {
        let error = #expect(throws: FaultError.self) { try Fault(text) }
        #expect(error?.text == text)
        #expect(error?.description.hasPrefix("fault '\(text)': ") == true)
    }

    @Test("a delay comes before the answer, and several add up")
    func delay() async throws {
        let bench = try Bench(faults: ["delay=2s@heartbeat", "delay=500ms"])
        let device = try await bench.device()
        #expect(bench.clock.waits == [.milliseconds(500)])
        #expect(try await bench.heartbeat(device).response.status == 200)
        #expect(bench.clock.waits == [.milliseconds(500), .milliseconds(2500)])
    }

    @Test("a dropped request is not carried out, one dropped after is; both can be asked again")
    func drops() async throws {
        let bench = try Bench(faults: ["drop@provision*1", "drop-after@provision*2", "truncate@provision*3"])
        let token = try await bench.token()
        let key = CryptoManager.deriveKey(token: token, hwid: "hwid-1")
        let body = String(
            decoding: try ProvisionRequest(token: token, hwid: "hwid-1").json(), as: UTF8.self)
        func send() async -> ServerReply { await bench.send("POST", "/api/v1/provision", body: body) }
        guard case .drop = await send() else {
            Issue.record("the first request is dropped")
            return
        }
        #expect(try await bench.store.devices().isEmpty)
        guard case .drop = await send() else {
            Issue.record("the second request is dropped after it was carried out")
            return
        }
        let identity = try #require(await bench.store.devices().first).id
        guard case .truncated(let response, let count) = await send() else {
            Issue.record("the third answer is cut")
            return
        }
        #expect(count > 0 && count < response.body.count)
        let config = try await send().response.provisioned(key)
        #expect(config.deviceID == identity)
        #expect(try await bench.store.devices().count == 1)
    }

    @Test("a status comes with its Retry-After, for as many requests as asked, and changes nothing")
    func status() async throws {
        let bench = try Bench(faults: ["status=500@heartbeat*1", "retry-after=120@heartbeat*2"])
        let device = try await bench.device()
        let first = try await bench.heartbeat(device).response
        #expect(first.status == 500)
        #expect(first.header("Retry-After") == "120")
        let second = try await bench.heartbeat(device).response
        #expect(second.status == 503)
        #expect(second.header("Retry-After") == "120")
        #expect(try await bench.store.device(device.id)?.lastSeen == nil)
        #expect(try await bench.heartbeat(device).response.status == 200)
    }

    @Test("garbage, pages, redirections and floods are none of the answers that a device reads")
    func contents() async throws {
        let bench = try Bench(faults: [
            "garbage@heartbeat*1", "html@forwards*1", "redirect=https://elsewhere.example/@deprovision*1",
            "oversize=70000@provision*2",
        ])
        #expect(try await bench.provision(token: "x").body.count > 70_000)
        let flood = try await bench.provision(token: "x")
        #expect(throws: AgentError.self) { try ProvisionResponse(parsing: flood.body) }
        let device = try await bench.device()
        let garbage = try await bench.heartbeat(device).response
        #expect(garbage.status == 200)
        #expect(throws: AgentError.self) { try HeartbeatResponse(parsing: garbage.body) }
        let page = try await bench.forwards(device)
        #expect(page.status == 200)
        #expect(page.header("Content-Type")?.hasPrefix("text/html") == true)
        #expect(String(decoding: page.body, as: UTF8.self).hasPrefix("<!DOCTYPE html>"))
        let redirect = try await bench.deprovision(device)
        #expect(redirect.status == 302)
        #expect(redirect.header("Location") == "https://elsewhere.example/")
        #expect(try await bench.store.device(device.id)?.revocation == nil)
    }

    @Test(
        "a wrong tag and a wrong key do not open, the next answer does",
        arguments: ["wrong-tag", "wrong-key"])
    func wrongEnvelopes(fault: String) async throws {
        let bench = try Bench(faults: ["\(fault)@provision*1", "\(fault)@heartbeat*1"])
        let token = try await bench.token()
        let key = CryptoManager.deriveKey(token: token, hwid: "hwid-1")
        let bad = try await bench.provision(token: token)
        #expect(throws: AgentError.cryptoDecryptionFailed) { try bad.provisioned(key) }
        let config = try await bench.provision(token: token).provisioned(key)
        let device = TestDevice(token: token, hwid: "hwid-1", key: key, config: config)
        func beat() async throws -> HeartbeatResponse {
            let response = try await bench.heartbeat(device, headers: envelope).response
            return try HeartbeatResponse(parsing: response.body, key: key, requiresEncryption: true)
        }
        await #expect(throws: AgentError.cryptoDecryptionFailed) { try await beat() }
        #expect(try await beat().config.difference(from: config) == .none)
    }

    @Test("an answer for another device, and one with a bad field, are just that")
    func wrongContents() async throws {
        let bench = try Bench(faults: ["other-device@heartbeat*1", "bad-field=endpoint@heartbeat*2"])
        let device = try await bench.device()
        let both = try await bench.heartbeat(device).response
        #expect(try both.object["device_id"] as? String != device.id)
        let bad = try await bench.heartbeat(device).response
        #expect(try bad.object["device_id"] as? String == device.id)
        let error = #expect(throws: AgentError.self) { try HeartbeatResponse(parsing: bad.body) }
        guard case .configInvalid(field: "endpoint", reason: _) = error else {
            Issue.record("the field is named: \(String(describing: error))")
            return
        }
        #expect(try await bench.heartbeat(device).response.status == 200)
    }

    @Test("each third heartbeat of a device gets new keys")
    func rotation() async throws {
        let bench = try Bench(faults: ["rotate-every=3"])
        let device = try await bench.device()
        let other = try await bench.device(hwid: "hwid-2")
        var keys: [String] = []
        for _ in 0..<7 {
            bench.clock.advance(30)
            let response = try await bench.heartbeat(device, lastHandshake: bench.clock.now).response
            keys.append(try HeartbeatResponse(parsing: response.body).config.privateKey.publicKey.base64)
            _ = await bench.heartbeat(other)
        }
        let first = device.config.privateKey.publicKey.base64
        #expect(keys[0...1].allSatisfy { $0 == first })
        #expect(keys[2] != first && keys[2...4].allSatisfy { $0 == keys[2] })
        #expect(keys[5] != keys[2] && keys[5] == keys[6])
        #expect(try await bench.store.device(device.id)?.newestKeys?.generation == 3)
    }

    @Test("a file changes the faults while the server runs; one that makes no sense changes nothing")
    func file() async throws {
        let bench = try Bench(faultFile: "faults")
        let device = try await bench.device()
        func status() async throws -> Int { try await bench.heartbeat(device).response.status }
        #expect(try await status() == 200)
        try bench.directory.write(Array("# now it fails\n\n  status=503 @heartbeat \n".utf8), to: "faults")
        #expect(try await status() == 503)
        #expect(try await status() == 503)
        try bench.directory.write(Array("nonsense\nstatus=500\n".utf8), to: "faults")
        #expect(try await status() == 503)
        #expect(bench.log.lines.filter { $0.contains("fault 'nonsense'") }.count == 1)
        #expect(try await status() == 503)
        #expect(bench.log.lines.filter { $0.contains("fault 'nonsense'") }.count == 1)
        try bench.directory.write(Array("status=500*1\n".utf8), to: "faults")
        #expect(try await status() == 500)
        #expect(try await status() == 200)
        try bench.directory.write(Array("status=502 # not a comment".utf8), to: "faults")
        #expect(try await status() == 200)
        try FileManager.default.removeItem(atPath: bench.directory.file("faults"))
        #expect(try await status() == 200)
    }
}
