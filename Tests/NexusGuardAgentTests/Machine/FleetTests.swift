// SPDX-License-Identifier: MIT

import AgentCore
import Testing

@testable import NexusGuardAgent

@Suite("a thousand agents and one server")
struct FleetTests {
    @Test("restarted together they spread over the interval within it, and stay so for a day")
    func day() {
        let seconds = 86_400
        var fleet = FleetSimulation(count: 1_000, seconds: seconds, seed: 1)
        fleet.run(until: 3_600) { _ in .accept }
        let early = fleet.states.map(\.lastLogged.count).reduce(0, +)
        fleet.run(until: seconds) { _ in .accept }

        // The first interval is the one in which they part: all begin in the same moment.
        let bins = fleet.requests[40..<seconds]
        let mean = Double(bins.reduce(0, +)) / Double(bins.count)
        #expect(abs(mean - 1_000.0 / 30) < 1, "\(mean) in a second")
        #expect(Double(bins.max() ?? 0) <= 3 * mean, "\(bins.max() ?? 0) in one second, \(mean) in the mean")
        #expect(fleet.mostInFlight == 1)
        for state in fleet.states {
            #expect(state.shown == .connected && state.health.isEmpty)
            #expect(state.counters.heartbeatsAccepted >= 86_400 / 34)
        }
        // What an agent remembers does not grow with the hours.
        #expect(fleet.states.map(\.lastLogged.count).reduce(0, +) == early)
        #expect(fleet.states.allSatisfy { $0.counters.failures.isEmpty && $0.candidateDigest.isEmpty })
    }

    @Test("a server that is away for hours and comes back is not met by all of them at once")
    func outage() {
        let seconds = 6 * 3_600
        var fleet = FleetSimulation(count: 500, seconds: seconds, seed: 2)
        let away = Duration.seconds(1_800)..<Duration.seconds(3 * 3_600)
        fleet.run(until: seconds) { now in
            away.contains(now) ? .fail(.init(.heartbeatFailed("no answer in time"))) : .accept
        }
        let during = fleet.requests[5_400..<10_800]
        let after = fleet.requests[10_800..<12_700]
        #expect(during.reduce(0, +) < 500 * 12, "asked ever more seldom")
        #expect((during.max() ?? 0) <= 25 && (after.max() ?? 0) <= 50)
        #expect(fleet.states.allSatisfy { $0.shown == .connected && $0.heartbeatFailures == 0 })
        #expect(fleet.states.allSatisfy { $0.counters.failures.count == 1 && $0.lastLogged.count == 1 })
        #expect(fleet.mostInFlight == 1)
    }

    @Test("a server that sends all of them away for two minutes gets them back one after the other")
    func retryAfter() {
        var fleet = FleetSimulation(count: 500, seconds: 600, seed: 3)
        fleet.run(until: 600) { now in
            (.seconds(60) ..< .seconds(95)).contains(now)
                ? .fail(.init(.rateLimited(retryAfter: .seconds(120)))) : .accept
        }
        // The last is sent away at 95 s and the first comes back at 180 s.
        #expect(fleet.requests[96..<180].reduce(0, +) == 0)
        let bins = fleet.requests[180..<600]
        #expect((bins.max() ?? 0) <= 50)
        #expect(fleet.states.allSatisfy { $0.heartbeatFailures == 0 })
    }
}
