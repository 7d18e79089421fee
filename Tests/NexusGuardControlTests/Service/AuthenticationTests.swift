// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Authentication of requests")
struct AuthenticationTests {
    /// The header as the interface defines it, not by way of the code under test.
    private func header(
        _ method: String, _ path: String, body: String, device: TestDevice, at time: Date, nonce: String
    ) -> String {
        let key = device.key.withBytes { $0.withUnsafeBytes { Array($0) } }
        let requestKey = CryptoManager.hmacSHA256(Array("nexusguard/heartbeat/v1".utf8), key: key)
        let second = Int(time.timeIntervalSince1970)
        let digest = hexadecimal(CryptoManager.sha256(Array(body.utf8)))
        let text = "\(method)\n\(path)\n\(second)\n\(nonce)\n\(digest)"
        let mac = hexadecimal(CryptoManager.hmacSHA256(Array(text.utf8), key: requestKey))
        return
            "NexusGuard-HMAC v=1, device=\"\(device.id)\", ts=\(second), nonce=\"\(nonce)\", mac=\"\(mac)\""
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    private let nonce = "000102030405060708090a0b0c0d0e0f"

    @Test("a header made by the letter of the interface is accepted")
    func accepted() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let body = device.news()
        let value = header(
            "POST", "/api/v1/heartbeat", body: body, device: device, at: bench.clock.now, nonce: nonce)
        let response = try await bench.send(
            "POST", "/api/v1/heartbeat", headers: [(name: "authorization", value: value)], body: body
        ).response
        #expect(response.status == 200)
    }

    @Test("a request without proof is refused, and changes nothing")
    func missing() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let heartbeat = try await bench.send("POST", "/api/v1/heartbeat", body: device.news()).response
        #expect(heartbeat.status == 401)
        #expect(heartbeat.errorCode == "unauthenticated")
        #expect(heartbeat.header("WWW-Authenticate") == "NexusGuard-HMAC v=1")
        let query = [(name: "device_id", value: device.id)]
        #expect(try await bench.send("GET", "/api/v1/forwards", query: query).response.status == 401)
        let body = #"{"device_id":"\#(device.id)"}"#
        #expect(try await bench.send("POST", "/api/v1/deprovision", body: body).response.status == 401)
        let record = try #require(await bench.store.device(device.id))
        #expect(record.revocation == nil)
        #expect(record.lastSeen == nil)
    }

    @Test("whatever of a request is changed on the way, the proof no longer fits")
    func tampering() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let other = try await bench.device(hwid: "hwid-2")
        let body = device.news()
        let path = "/api/v1/heartbeat"
        let good = header("POST", path, body: body, device: device, at: bench.clock.now, nonce: nonce)
        let second = Int(bench.clock.now.timeIntervalSince1970)
        let changed: [(String, String)] = [
            (good, device.news(isUp: false)),
            (good.replacingOccurrences(of: "ts=\(second)", with: "ts=\(second + 1)"), body),
            (good.replacingOccurrences(of: nonce, with: "ff" + nonce.dropFirst(2)), body),
            (good.replacingOccurrences(of: device.id, with: other.id), body),
            (header("GET", path, body: body, device: device, at: bench.clock.now, nonce: nonce), body),
            (
                header(
                    "POST", "/api/v1/deprovision", body: body, device: device, at: bench.clock.now,
                    nonce: nonce),
                body
            ),
            (header("POST", path, body: body, device: other, at: bench.clock.now, nonce: nonce), body),
            (good.replacingOccurrences(of: "v=1", with: "v=2"), body),
            (good + ", extra=1", body), ("Bearer abc", body), ("", body), ("NexusGuard-HMAC", body),
        ]
        for (value, body) in changed {
            let response = try await bench.send(
                "POST", path, headers: [(name: "Authorization", value: value)], body: body
            ).response
            #expect(response.status == 401, "\(value)")
            #expect(response.errorCode == "unauthenticated")
        }
        // A flipped bit in each digit of the mac.
        let start = try #require(good.range(of: "mac=\"")?.upperBound)
        for offset in 0..<64 {
            var text = Array(good)
            let index = good.distance(from: good.startIndex, to: start) + offset
            text[index] = text[index] == "0" ? "1" : "0"
            let response = try await bench.send(
                "POST", path, headers: [(name: "Authorization", value: String(text))], body: body
            ).response
            #expect(response.status == 401, "digit \(offset)")
        }
        let twice = [(name: "Authorization", value: good), (name: "authorization", value: good)]
        #expect(try await bench.send("POST", path, headers: twice, body: body).response.status == 401)
        // None of it used the nonce up.
        let whole = [(name: "Authorization", value: good)]
        #expect(try await bench.send("POST", path, headers: whole, body: body).response.status == 200)
    }

    @Test("one device cannot ask for another")
    func otherDevice() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let other = try await bench.device(hwid: "hwid-2")
        let response = try await bench.send(
            "POST", "/api/v1/heartbeat", as: device, body: other.news()
        ).response
        #expect(response.status == 401)
        let forwards = try await bench.send(
            "GET", "/api/v1/forwards", as: device, query: [(name: "device_id", value: other.id)]
        ).response
        #expect(forwards.status == 401)
        let deprovision = try await bench.send(
            "POST", "/api/v1/deprovision", as: device, body: #"{"device_id":"\#(other.id)"}"#
        ).response
        #expect(deprovision.status == 401)
        #expect(try await bench.store.device(other.id)?.revocation == nil)
    }

    @Test(
        "300 s of difference are allowed on either side, 301 are not",
        arguments: [(-301, 401), (-300, 200), (0, 200), (300, 200), (301, 401)])
    func skew(seconds: Int, status: Int) async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let time = bench.clock.now.addingTimeInterval(Double(seconds))
        let response = try await bench.heartbeat(device, at: time).response
        #expect(response.status == status)
        if status == 401 { #expect(response.errorCode == "clock-skew") }
    }

    @Test("a request is answered once, for as long as its time would allow another")
    func replay() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let sent = bench.clock.now.addingTimeInterval(300)
        let nonce = Array(UInt8(0)..<16)
        #expect(try await bench.heartbeat(device, nonce: nonce, at: sent).response.status == 200)
        for seconds in [0.0, 1, 299, 300, 0.9] {
            bench.clock.advance(seconds)
            let response = try await bench.heartbeat(device, nonce: nonce, at: sent).response
            #expect(response.status == 401)
            #expect(response.errorCode == "replayed", "\(bench.clock.now.timeIntervalSince(sent)) s later")
        }
        bench.clock.advance(0.2)
        let late = try await bench.heartbeat(device, nonce: nonce, at: sent).response
        #expect(late.errorCode == "clock-skew")
        // The same nonce in a new request of a later time is a new request.
        #expect(try await bench.heartbeat(device, nonce: nonce).response.status == 200)
    }

    @Test("a nonce of one device does not bar another's")
    func nonceOfOther() async throws {
        let bench = try Bench()
        let nonce = Array(UInt8(0)..<16)
        for hwid in ["hwid-1", "hwid-2"] {
            let device = try await bench.device(hwid: hwid)
            #expect(try await bench.heartbeat(device, nonce: nonce).response.status == 200)
        }
    }

    @Test("a hundred copies of a request at once are answered once")
    func concurrentReplay() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let nonce = Array(UInt8(0)..<16)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask { try await bench.heartbeat(device, nonce: nonce).response.status }
            }
            return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [200: 1, 401: 99])
    }

    @Test("a device that floods is told to wait, and others are not")
    func flood() async throws {
        let bench = try Bench()
        let device = try await bench.device()
        let other = try await bench.device(hwid: "hwid-2")
        var status = 200
        var count = 0
        while status == 200, count < 3000 {
            status = try await bench.heartbeat(device).response.status
            count += 1
        }
        #expect(status == 429)
        #expect(count == 1201)
        #expect(try await bench.heartbeat(other).response.status == 200)
        bench.clock.advance(302)
        #expect(try await bench.heartbeat(device).response.status == 200)
    }

    @Test("without the requirement a bare request is answered, but a wrong proof is not")
    func optional() async throws {
        let bench = try Bench { $0.requiresAuthentication = false }
        let device = try await bench.device()
        let bare = try await bench.send("POST", "/api/v1/heartbeat", body: device.news()).response
        #expect(bare.status == 200)
        let wrong = [(name: "Authorization", value: "NexusGuard-HMAC v=1")]
        let response = try await bench.send(
            "POST", "/api/v1/heartbeat", headers: wrong, body: device.news()
        ).response
        #expect(response.status == 401)
    }
}
