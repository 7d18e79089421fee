// SPDX-License-Identifier: MIT

import AgentCore
import Testing

@testable import NexusGuardAgent

@Suite("how the agent changes the running tunnel")
struct RebuildTests {
    static func news(_ difference: ConfigDifference, _ digest: UInt8 = 1) -> MachineDriver.Event {
        .heartbeatAccepted(.init(difference: difference, digest: [digest]))
    }

    @Test(
        "news without a difference of the tunnel changes nothing",
        arguments: [ConfigDifference.none, .forwards])
    func nothing(difference: ConfigDifference) {
        var driver = MachineDriver.connected()
        driver.send(Self.news(difference))
        #expect(driver.effects == [] && driver.state.phase == .heartbeat)
    }

    @Test(
        "a difference within the identity is applied and kept without a new handshake",
        arguments: [ConfigDifference.peer, .host])
    func inPlace(difference: ConfigDifference) {
        var driver = MachineDriver.connected()
        driver.send(Self.news(difference))
        #expect(driver.effects == [.applyCandidate])
        #expect(driver.state.phase == .tunnelRebuild && driver.state.shown == .connected)
        driver.send(.applied(difference))
        #expect(driver.effects == [.confirmCandidate])
        #expect(driver.state.phase == .heartbeat && driver.state.counters.rebuilds == 1)
    }

    @Test("another identity is kept when a handshake comes within 15 s, and the server hears of it")
    func identity() {
        var driver = MachineDriver.verifying()
        #expect(driver.effects == [] && driver.state.shown == .connecting)
        driver.now += .seconds(14)
        driver.send(.timer(.init(isUp: true, lastHandshake: driver.now)))
        #expect(driver.effects == [.confirmCandidate, .sendHeartbeat])
        #expect(driver.state.phase == .heartbeat && driver.state.shown == .connected)
    }

    @Test("without a handshake in 15 s the old identity is back, which is shown")
    func rollBack() {
        var driver = MachineDriver.verifying()
        let start = driver.now
        driver.wait(for: .rollBack)
        #expect(driver.now == start + .seconds(15))
        #expect(driver.state.phase == .tunnelRebuild)
        driver.send(.rolledBack)
        #expect(driver.state.phase == .tunnelUp && driver.effects == [])
        driver.now += .seconds(1)
        driver.send(.timer(.init(isUp: true, lastHandshake: driver.now)))
        #expect(driver.state.phase == .heartbeat)
        #expect(driver.state.health.map(\.code) == [HealthCode.rolledBack])
        #expect(driver.state.counters.rollbacks == 1)
    }

    @Test("what was taken back is not tried again at once while the old one works, but later")
    func rejection() {
        var driver = MachineDriver.verifying()
        driver.wait(for: .rollBack)
        driver.send(.rolledBack)
        driver.send(.timer(.init(isUp: true, lastHandshake: driver.now)))
        let start = driver.now
        driver.send(Self.news(.identity))
        #expect(!driver.effects.contains(.applyCandidate))
        while !driver.effects.contains(.applyCandidate) {
            if driver.state.request != nil {
                driver.send(Self.news(.identity))
            } else {
                driver.advance(handshake: driver.now)
            }
        }
        #expect(driver.now - start >= .seconds(60) && driver.now - start <= .seconds(240))
    }

    @Test("another configuration than the one that was taken back is tried at once")
    func otherThanRejected() {
        var driver = MachineDriver.verifying()
        driver.wait(for: .rollBack)
        driver.send(.rolledBack)
        driver.send(.timer(.init(isUp: true, lastHandshake: driver.now)))
        driver.send(Self.news(.identity, 2))
        #expect(driver.effects.contains(.applyCandidate))
    }

    @Test("what cannot be applied leaves the tunnel as it was")
    func applyFails() {
        var driver = MachineDriver.applying(.host)
        driver.send(.applyFailed(.tunnelInitFailed("no such route")))
        #expect(driver.effects == [.discardCandidate])
        #expect(driver.state.phase == .heartbeat && driver.state.shown == .connected)
        #expect(driver.state.health.map(\.code) == [HealthCode.rolledBack])
    }

    @Test("when even the old identity cannot be applied, the tunnel is started anew with it")
    func rollBackFails() {
        var driver = MachineDriver.verifying()
        driver.wait(for: .rollBack)
        driver.send(.rollBackFailed(.tunnelInitFailed("x")))
        #expect(driver.effects == [.stopTunnel])
        driver.send(.tunnelStopped)
        #expect(driver.effects == [.startTunnel])
    }

    @Test("a network that goes away while another identity proves itself is not held against it")
    func offlineWhileVerifying() {
        var driver = MachineDriver.verifying()
        driver.now += .seconds(5)
        driver.send(.offline)
        let idle = driver.advance(by: .seconds(60))
        #expect(idle == [])
        driver.send(.online)
        #expect(driver.state.phase == .tunnelRebuild && driver.state.isVerifying)
        driver.now += .seconds(14)
        driver.send(.timer(.init(isUp: true, lastHandshake: driver.now)))
        #expect(driver.effects.contains(.confirmCandidate))
    }

    @Test("a stop while another identity proves itself forgets that one")
    func stopWhileVerifying() {
        var driver = MachineDriver.verifying()
        driver.send(.down)
        #expect(driver.effects == [.saveWantsUp(false), .stopTunnel])
        driver.send(.tunnelStopped)
        #expect(driver.effects.contains(.discardCandidate))
    }

    @Test("a second configuration waits until the first is done with")
    func second() {
        var driver = MachineDriver.applying(.peer)
        driver.send(.configImported(difference: .host))
        #expect(driver.effects == [])
        driver.send(.applied(.peer))
        #expect(driver.effects == [.confirmCandidate, .applyCandidate])
    }

    @Test("a configuration that comes again while it is applied is applied once", arguments: [false, true])
    func again(isOther: Bool) {
        var driver = MachineDriver.applying(.identity)
        driver.send(.refresh)
        #expect(driver.state.request?.kind == .heartbeat)
        driver.send(Self.news(.identity, isOther ? 2 : 1))
        driver.send(.applied(.identity))
        driver.send(.timer(.init(isUp: true, lastHandshake: driver.now)))
        #expect(driver.effects.contains(.applyCandidate) == isOther)
        #expect(driver.state.counters.rebuilds == 1)
    }

    @Test("a configuration that comes while the tunnel is down is stored and used")
    func tunnelDown() {
        var driver = MachineDriver.starting()
        driver.send(.tunnelFailed(.tunnelInitFailed("bad address")))
        driver.send(Self.news(.host))
        #expect(driver.effects == [.storeCandidate, .startTunnel])
    }

    @Test("an interface that someone removed is made again")
    func lost() {
        var driver = MachineDriver.settled()
        driver.send(.timer(.init(isUp: false)))
        #expect(driver.state.phase == .appRetry && !driver.state.tunnelIsUp)
        driver.wait(for: .startTunnel, within: .seconds(3))
    }

    @Test("commands that come while the tunnel is being changed are done afterwards")
    func commandsMeanwhile() {
        var driver = MachineDriver.starting()
        driver.send(.down)
        #expect(driver.effects == [.saveWantsUp(false)])
        driver.send(.up)
        driver.send(.loaded(MachineDriver.identity))
        #expect(!driver.effects.contains(.startTunnel))
        driver.send(.down)
        driver.send(.tunnelStarted)
        #expect(driver.effects == [.stopTunnel])
        driver.send([.up, .loaded(MachineDriver.identity)])
        driver.send(.tunnelStopped)
        #expect(driver.effects == [.startTunnel])
    }

    @Test("a restart takes the tunnel down and brings it up again")
    func restart() {
        var driver = MachineDriver.settled()
        driver.send(.restart)
        #expect(driver.effects == [.stopTunnel])
        driver.send(.tunnelStopped)
        #expect(driver.effects == [.startTunnel])
        #expect(driver.state.wantsUp)
    }
}
