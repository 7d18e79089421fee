// SPDX-License-Identifier: MIT

import AgentCore
import Harness
import Testing

@testable import NexusGuardAgent

@Suite("when the agent asks the server")
struct ContactTimingTests {
    typealias Failure = AgentMachine.Failure

    @Test("a stored configuration is brought up before any contact with the server")
    func storedConfigurationFirst() {
        var driver = MachineDriver.starting()
        #expect(driver.effects == [.startTunnel])
        driver.send(.tunnelStarted)
        #expect(driver.effects == [])
        driver.now += .seconds(2)
        driver.send(.timer(.init(isUp: true, lastHandshake: driver.now)))
        #expect(driver.effects == [.sendHeartbeat])
        #expect(driver.state.shown == .connected)
    }

    @Test("without an identity and with a token the first thing is to ask for one")
    func provisionFirst() {
        var driver = MachineDriver.provisioning()
        #expect(driver.effects == [.provision(acceptsOther: true)])
        driver.send(.provisionAnswered)
        #expect(driver.effects == [.adoptIdentity])
        driver.send(.identityAdopted(difference: .identity, problem: nil))
        #expect(driver.effects == [.startTunnel])
        #expect(!driver.state.inventory.hasPendingToken)
    }

    @Test("a handshake that does not come within 15 s ends the wait, and the server is asked for news")
    func firstHandshake() {
        var driver = MachineDriver.waiting()
        let start = driver.now
        let effects = driver.advance(by: .seconds(14.9))
        #expect(effects == [])
        #expect(driver.state.phase == .tunnelUp)
        driver.wait(for: .sendHeartbeat)
        #expect(driver.now == start + .seconds(15))
        #expect(driver.state.phase == .appRetry)
        #expect(driver.state.failure == .handshakeTimedOut)
        #expect(driver.state.tunnelIsUp)
    }

    @Test(
        "heartbeats come every 30 s, 10 % more or less, once they are under way", arguments: [1, 2, 3, 4, 5])
    func interval(seed: UInt64) {
        var driver = MachineDriver.settled()
        driver.random = SeededGenerator(seed: seed)
        driver.wait(for: .sendHeartbeat)
        var gaps: [Duration] = []
        for _ in 0..<200 {
            let sent = driver.now
            driver.send(.heartbeatAccepted(.init()))
            while !driver.effects.contains(.sendHeartbeat) { driver.advance(handshake: driver.now) }
            gaps.append(driver.now - sent)
        }
        #expect(gaps.allSatisfy { $0 >= .seconds(27) && $0 <= .seconds(33) })
        #expect((gaps.max() ?? .zero) - (gaps.min() ?? .zero) > .seconds(4))
    }

    @Test(
        "the interval that the server asks for is kept within 5 s to an hour, 10 % more or less",
        arguments: [
            (Duration.seconds(120), Duration.seconds(120)), (.seconds(1), .seconds(5)),
            (.seconds(86_400), .seconds(3_600)), (.seconds(-3), .seconds(5)),
        ])
    func nextInterval(wish: Duration, interval: Duration) {
        var driver = MachineDriver.settled()
        for _ in 0..<20 {
            while !driver.effects.contains(.sendHeartbeat) { driver.advance(handshake: driver.now) }
            driver.send(.heartbeatAccepted(.init(nextInterval: wish)))
        }
        #expect(driver.state.interval == interval)
        let answered = driver.now
        while !driver.effects.contains(.sendHeartbeat) { driver.advance(handshake: driver.now) }
        #expect(driver.now - answered >= interval * 0.9)
        #expect(driver.now - answered <= interval * 1.1)
    }

    @Test("a change of the network brings a heartbeat at once, and a flapping link no storm")
    func flapping() {
        var driver = MachineDriver.settled()
        driver.send(.networkChanged)
        #expect(driver.effects.contains(.sendHeartbeat))
        #expect(driver.effects.contains(.refreshTunnel))
        var heartbeats = 0
        var refreshes = 0
        for round in 0..<1_200 {
            driver.now += .milliseconds(500)
            let events: [MachineDriver.Event] = [.offline, .online, .networkChanged]
            driver.send(events[round % 3])
            var effects = driver.effects
            while let deadline = driver.state.nextDeadline, deadline <= driver.now {
                driver.advance(handshake: driver.now)
                effects += driver.effects
            }
            heartbeats += effects.count { $0 == .sendHeartbeat }
            refreshes += effects.count { $0 == .refreshTunnel }
            if driver.state.request != nil { driver.send(.heartbeatAccepted(.init())) }
        }
        // Ten minutes: one in each 10 s besides the regular ones and a burst, and one look in each 5 s.
        #expect(heartbeats <= 60 + 22 + 3)
        #expect(heartbeats >= 20)
        #expect(refreshes <= 120 + 5)
    }

    @Test("while a request is in flight there is no other one, whatever happens")
    func oneInFlight() {
        var driver = MachineDriver.connected()
        for event in [MachineDriver.Event.refresh, .networkChanged, .online, .up, .restart] {
            driver.send(event)
            #expect(!driver.effects.contains { $0.isRequest }, "\(event)")
        }
        driver.send(.deprovision)
        #expect(!driver.effects.contains { $0.isRequest })
        driver.send(.heartbeatAccepted(.init()))
        #expect(driver.effects.filter(\.isRequest) == [.deprovision])
    }

    @Test(
        "after 429 or 503 with Retry-After nothing is sent for that long, and at most an hour",
        arguments: [
            (Duration.seconds(120), Duration.seconds(120)), (.seconds(86_400 * 365), .seconds(3_600)),
            (.seconds(-5), .zero),
        ])
    func retryAfter(wish: Duration, hold: Duration) {
        var driver = MachineDriver.connected()
        let start = driver.now
        driver.send(.heartbeatFailed(.init(.rateLimited(retryAfter: wish))))
        let pokes: [MachineDriver.Event] = [.networkChanged, .refresh, .up, .offline, .online]
        var effects: [MachineDriver.Effect] = []
        for event in pokes {
            driver.send(event)
            effects += driver.effects
        }
        if hold > .zero { #expect(!effects.contains { $0.isRequest }) }
        while !driver.effects.contains(.sendHeartbeat), driver.now < start + .seconds(7_200) {
            driver.advance(handshake: driver.now)
        }
        #expect(driver.now - start >= hold)
        #expect(driver.now - start <= max(hold * 1.1, .seconds(15)))
        #expect(driver.state.shown == .connected)
    }

    @Test("while an identity is asked for, Retry-After holds as well")
    func retryAfterProvision() {
        var driver = MachineDriver.provisioning()
        let start = driver.now
        driver.send(.provisionFailed(.init(.rateLimited(retryAfter: .seconds(120)))))
        #expect(driver.state.phase == .appRetry)
        driver.send(.refresh)
        #expect(driver.effects == [])
        driver.wait(for: .provision(acceptsOther: true))
        #expect(driver.now - start >= .seconds(120) && driver.now - start <= .seconds(132))
    }

    @Test("the last heartbeat before a stop says that the tunnel is down, once, and nothing follows it")
    func farewell() {
        var driver = MachineDriver.settled()
        driver.send(.down)
        #expect(driver.effects == [.saveWantsUp(false), .stopTunnel])
        driver.send(.tunnelStopped)
        #expect(driver.effects == [.sendHeartbeat])
        driver.send(.heartbeatFailed(.timeout))
        #expect(driver.effects == [])
        #expect(driver.state.nextDeadline == nil)
        #expect(driver.state.phase == .stopped)
    }

    @Test("forwards are fetched when their digest changed, after the heartbeat that said so")
    func forwards() {
        var driver = MachineDriver.connected()
        driver.send(.heartbeatAccepted(.init(needsForwards: true)))
        #expect(driver.effects == [.fetchForwards])
        driver.send(.forwardsFailed(.timeout))
        #expect(driver.effects == [])
        #expect(driver.state.health.map(\.code) == ["heartbeat-failed"])
        driver.wait(for: .sendHeartbeat)
        driver.send(.heartbeatAccepted(.init(needsForwards: true)))
        #expect(driver.effects == [.fetchForwards])
        driver.send(.forwardsFetched)
        #expect(driver.state.health == [])
    }
}
