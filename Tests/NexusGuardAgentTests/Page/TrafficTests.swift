// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import Glibc
import Testing

@testable import NexusGuardAgent

@Suite("history of traffic")
struct TrafficTests {
    private static func tunnel(received: UInt64, sent: UInt64, handshake: Date?) -> TunnelInfo {
        TunnelInfo(
            interface: "ng0", addresses: ["10.172.21.2/32"], allowedIPs: ["10.172.21.0/24"],
            lastHandshake: handshake, receivedByteCount: received, sentByteCount: sent, mtu: 1420)
    }

    private struct Bench {
        let agent: FakeAgent
        let clock = ManualClock()
        let recorder: TrafficRecorder

        init() throws {
            agent = try FakeAgent()
            recorder = TrafficRecorder(control: agent, clock: clock)
        }

        /// The samples as they are sent.
        func samples() async throws -> [[String: Any]] {
            let value = try JSONSerialization.jsonObject(with: Data(await recorder.document()))
            let object = try #require(value as? [String: Any])
            #expect(object["schema"] as? Int == 1)
            #expect(object["interval"] as? Int == 5)
            return try #require(object["samples"] as? [[String: Any]])
        }

        /// Moves the clock by an interval, and waits until the recorder waits for the next.
        func tick() async {
            let next = clock.now + TrafficRecorder.interval
            await waitsUntil(next)
            clock.advance(to: next)
            await waitsUntil(next + TrafficRecorder.interval)
        }

        private func waitsUntil(_ instant: Duration) async {
            for _ in 0..<60_000 where clock.nextWakeUp != instant {
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    @Test("nothing is noted without a tunnel, and a sample each five seconds with one")
    func samples() async throws {
        let bench = try Bench()
        await bench.recorder.start()
        await bench.tick()
        #expect(try await bench.samples().isEmpty)
        let handshake = bench.clock.date.addingTimeInterval(-7)
        await bench.agent.show { $0.tunnel = Self.tunnel(received: 1000, sent: 200, handshake: nil) }
        await bench.tick()
        await bench.agent.show { $0.tunnel = Self.tunnel(received: 5000, sent: 300, handshake: handshake) }
        await bench.tick()
        await bench.agent.show { $0.tunnel = nil }
        await bench.tick()
        let samples = try await bench.samples()
        #expect(samples.count == 2)
        #expect(samples[0]["received"] as? Int == 1000)
        #expect(samples[0]["sent"] as? Int == 200)
        #expect(samples[0]["handshakeAge"] is NSNull)
        #expect(samples[1]["received"] as? Int == 5000)
        // Seven seconds before, and two intervals later.
        #expect(samples[1]["handshakeAge"] as? Int == 17)
        let first = try #require((samples[0]["time"] as? String).flatMap(RFC3339.date))
        let second = try #require((samples[1]["time"] as? String).flatMap(RFC3339.date))
        #expect(second.timeIntervalSince(first) == 5)
        await bench.recorder.stop()
    }

    @Test("the last ten minutes are kept and no more, and a wall time that jumps loses none of them")
    func history() async throws {
        let bench = try Bench()
        await bench.agent.show { $0.tunnel = Self.tunnel(received: 1, sent: 1, handshake: nil) }
        await bench.recorder.start()
        for number in 0..<130 {
            if number == 100 { bench.clock.jumpWallTime(by: -86_400) }
            await bench.agent.show {
                $0.tunnel = Self.tunnel(received: UInt64(number), sent: 0, handshake: nil)
            }
            await bench.tick()
        }
        let samples = try await bench.samples()
        #expect(samples.count == 120)
        #expect(samples.first?["received"] as? Int == 10)
        #expect(samples.last?["received"] as? Int == 129)
        await bench.agent.show { $0.tunnel = nil }
        for _ in 0..<60 { await bench.tick() }
        #expect(try await bench.samples().count == 60)
        await bench.recorder.stop()
    }

    @Test("a handshake that seems to lie ahead is new, not of negative age")
    func future() throws {
        var snapshot = AgentSnapshot()
        let now = Date(timeIntervalSince1970: 1_782_464_400)
        snapshot.tunnel = Self.tunnel(received: .max, sent: 0, handshake: now.addingTimeInterval(3600))
        let sample = try #require(TrafficSample(snapshot, at: now))
        #expect(sample.handshakeAge == 0)
        let text = String(decoding: sample.document, as: UTF8.self)
        #expect(
            text == """
                {"time":"2026-06-26T09:00:00Z","received":9223372036854775807,"sent":0,"handshakeAge":0}
                """)
    }

    @Test("each sample is an event of the stream")
    func events() async throws {
        let bench = try await PageBench()
        await bench.agent.show { $0.tunnel = Self.tunnel(received: 77, sent: 5, handshake: nil) }
        let session = try await bench.session()
        let descriptor = try await bench.stream(session: session)
        let collected = Task {
            try await RawHTTP.aside {
                var text = ""
                var buffer = [UInt8](repeating: 0, count: 4096)
                while !text.hasSuffix("}\n\n") || !text.contains("event: traffic") {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { throw RawHTTP.Failure(call: text, number: errno) }
                    // The ends of chunks stand between the events.
                    text += String(decoding: buffer[..<count], as: UTF8.self).replacing("\r\n", with: "")
                }
                return text
            }
        }
        await bench.api.traffic.start()
        // The stream takes notice of samples some time after its beginning: they go on until it does.
        let ticking = Task {
            while !Task.isCancelled {
                bench.clock.advance(to: bench.clock.now + .seconds(5))
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        let text = try await collected.value
        ticking.cancel()
        #expect(text.contains("event: traffic\ndata: {\"time\":"))
        #expect(text.contains(#""received":77,"sent":5,"handshakeAge":null}"#))
        let history = try await bench.send("GET", "/api/v1/traffic", session: session)
        #expect(history.status == 200)
        #expect(history.body.contains(#""received":77"#))
        await bench.page.stop()
        await bench.api.traffic.stop()
        Glibc.close(descriptor)
    }
}
