// SPDX-License-Identifier: MIT

import AgentCore
import Harness
import Testing

@testable import NexusGuardAgent

@Suite("how the agent recovers")
struct RecoveryTests {
    typealias Failure = AgentMachine.Failure

    static let anywhere: [AgentError] = [
        .heartbeatFailed("no answer in time"), .serverRejected(500), .serverRejected(502),
        .serverRejected(302), .captivePortal, .tls("expired"), .clockSkew(.seconds(4_000)),
        .cryptoDecryptionFailed, .configInvalid(field: "endpoint", reason: "is missing"),
        .identityMismatch, .rateLimited(retryAfter: nil),
    ]

    @Test(
        "an identity that does not come is asked for after 2, 4 and 8 s, then slowly for ever",
        arguments: anywhere)
    func provisioning(error: AgentError) {
        var driver = MachineDriver.provisioning()
        var gaps: [Duration] = []
        var shown: [AgentState] = []
        for _ in 0..<12 {
            let failed = driver.now
            driver.send(.provisionFailed(.init(error)))
            shown.append(driver.state.shown)
            #expect(driver.state.reason?.code == error.code)
            driver.wait(for: .provision(acceptsOther: true))
            gaps.append(driver.now - failed)
        }
        for (gap, seconds) in zip(gaps, [2.0, 4, 8]) {
            #expect(gap >= .seconds(seconds / 2) && gap <= .seconds(seconds * 1.5))
        }
        #expect(gaps.dropFirst(3).allSatisfy { $0 >= .seconds(300) && $0 <= .seconds(1_800) })
        #expect(gaps.dropFirst(3).contains { $0 > .seconds(600) })
        #expect(shown == Array(repeating: .connecting, count: 3) + Array(repeating: .failed, count: 9))
    }

    @Test("a heartbeat that fails leaves tunnel and identity alone and is shown", arguments: anywhere)
    func heartbeat(error: AgentError) {
        var driver = MachineDriver.connected()
        var effects: [MachineDriver.Effect] = []
        for _ in 0..<30 {
            driver.send(.heartbeatFailed(.init(error)))
            #expect(driver.state.health.first?.code == error.code)
            #expect(driver.state.shown == .connected)
            while driver.state.request == nil {
                driver.advance(handshake: driver.now)
                effects += driver.effects
            }
        }
        #expect(Set(effects) == [.sendHeartbeat])
        driver.send(.heartbeatAccepted(.init()))
        #expect(driver.state.health == [])
    }

    @Test(
        "a server that is away for a day is asked ever more seldom, and found within half an hour",
        arguments: 1...8)
    func outage(seed: UInt64) {
        var driver = MachineDriver.connected()
        driver.random = SeededGenerator(seed: seed)
        let start = driver.now
        var gaps: [Duration] = []
        var last = driver.now
        while driver.now < start + .seconds(86_400) {
            driver.send(.heartbeatFailed(.timeout))
            while driver.state.request == nil {
                driver.advance(handshake: driver.now)
                #expect(driver.effects.allSatisfy { $0 == .sendHeartbeat })
            }
            gaps.append(driver.now - last)
            last = driver.now
        }
        #expect(driver.state.shown == .connected)
        #expect(gaps.allSatisfy { $0 <= .seconds(1_800) })
        // With a cap of half an hour and chance over the whole of it, about 96 tries and a few to get there.
        #expect((60...200).contains(gaps.count))
        let late = gaps.suffix(40)
        #expect((late.max() ?? .zero) > .seconds(1_200))
        #expect((late.min() ?? .zero) < .seconds(600))
        // The day ends with a request on its way, which is answered: no more than one cap after the return.
        driver.send(.heartbeatAccepted(.init()))
        #expect(driver.state.health == [] && driver.state.heartbeatFailures == 0)
        let answered = driver.now
        while driver.state.request == nil { driver.advance(handshake: driver.now) }
        #expect(driver.now - answered <= .seconds(33))
    }

    @Test("refused credentials lead to one request for an identity an hour, and to no other identity")
    func unauthorized() {
        var inventory = MachineDriver.identity
        inventory.hasConfiguredToken = true
        var driver = MachineDriver.connected(inventory)
        let start = driver.now
        var asked: [Duration] = []
        var effects: [MachineDriver.Effect] = []
        while driver.now < start + .seconds(6 * 3_600) {
            if driver.state.request?.kind == .provision {
                asked.append(driver.now)
                driver.send(.provisionFailed(.init(.unauthorized)))
            } else if driver.state.request != nil {
                driver.send(.heartbeatFailed(.init(.unauthorized)))
            } else {
                driver.advance(handshake: driver.now)
            }
            effects += driver.effects
        }
        #expect((5...6).contains(asked.count))
        for (first, second) in zip(asked, asked.dropFirst()) { #expect(second - first >= .seconds(3_600)) }
        #expect(!effects.contains { $0 == .eraseIdentity || $0 == .stopTunnel || $0 == .adoptIdentity })
        #expect(effects.contains(.provision(acceptsOther: false)))
        #expect(!effects.contains(.provision(acceptsOther: true)))
        #expect(driver.state.shown == .connected)
        #expect(driver.state.health.map(\.code) == ["unauthorized"])
    }

    @Test("refused credentials without a token keep tunnel and identity and are told to the user")
    func unauthorizedWithoutToken() {
        var driver = MachineDriver.connected()
        driver.send(.heartbeatFailed(.init(.unauthorized)))
        let effects = driver.advance(by: .seconds(170), handshake: driver.now)
        #expect(!effects.contains { $0.isRequest })
        #expect(driver.state.health.contains { $0.code == "unauthorized" })
        // A token of the user may bring any identity: the old one is refused.
        driver.send(.heartbeatFailed(.init(.unauthorized)))
        driver.send(.tokenSupplied(isPending: true))
        #expect(driver.effects == [.provision(acceptsOther: true)])
        driver.send(.provisionAnswered)
        driver.send(.identityAdopted(difference: .identity, problem: nil))
        #expect(driver.effects.contains(.applyCandidate))
    }

    @Test("a refused token is not sent again for an hour, but another one at once")
    func badToken() {
        var driver = MachineDriver.provisioning()
        driver.send(.provisionFailed(.init(.unauthorized)))
        #expect(driver.state.phase == .failed)
        for event in [MachineDriver.Event.networkChanged, .offline, .online, .down, .up] {
            driver.send(event)
            if driver.effects.contains(.loadConfiguration) { driver.send(.loaded(MachineDriver.token)) }
            #expect(driver.state.request == nil, "\(event)")
        }
        driver.send(.tokenSupplied(isPending: true))
        #expect(driver.effects == [.provision(acceptsOther: true)])
        let start = driver.now
        driver.send(.provisionFailed(.init(.serverRejected(409))))
        while driver.state.request == nil {
            guard driver.advance() else { break }
            if driver.effects.contains(.loadConfiguration) { driver.send(.loaded(MachineDriver.token)) }
        }
        #expect(driver.now - start >= .seconds(3_600) && driver.now - start <= .seconds(3_960))
    }

    @Test(
        "a revocation that nothing proves keeps tunnel and configuration, and ends with the next good answer")
    func revokedUnproven() {
        var driver = MachineDriver.connected()
        driver.send(.heartbeatFailed(.init(.revoked)))
        #expect(driver.effects == [])
        #expect(driver.state.shown == .failed && driver.state.reason?.code == "revoked")
        #expect(driver.state.tunnelIsUp && driver.state.inventory.hasIdentity)
        let failed = driver.now
        while driver.state.request == nil { driver.advance(handshake: driver.now) }
        #expect(driver.now - failed >= .seconds(300) && driver.now - failed <= .seconds(1_800))
        driver.send(.heartbeatAccepted(.init()))
        #expect(driver.state.phase == .heartbeat && driver.state.shown == .connected)
    }

    @Test("a revocation that only the server can have written clears the identity and stops the tunnel")
    func revokedProven() {
        var driver = MachineDriver.connected()
        driver.send(.heartbeatFailed(.init(.revoked, isProven: true)))
        #expect(driver.effects == [.eraseIdentity, .stopTunnel])
        driver.send(.tunnelStopped)
        #expect(driver.state.phase == .failed && driver.state.nextDeadline == nil)
        for event in [MachineDriver.Event.refresh, .networkChanged, .offline, .online, .up] {
            driver.send(event)
            if driver.effects.contains(.loadConfiguration) {
                var inventory = AgentMachine.Inventory(hasIdentity: false)
                inventory.hasConfiguredToken = true
                driver.send(.loaded(inventory))
            }
            #expect(driver.state.request == nil, "\(event)")
        }
        #expect(driver.state.phase == .failed && driver.state.failure == .revoked)
        driver.send(.tokenSupplied(isPending: true))
        #expect(driver.effects == [.provision(acceptsOther: true)])
    }

    @Test("a tunnel that cannot be brought up is tried after 2, 4 and 8 s, then slowly, and heartbeats go on")
    func tunnel() {
        var driver = MachineDriver.starting()
        var gaps: [Duration] = []
        var heartbeats = 0
        for _ in 0..<8 {
            let failed = driver.now
            driver.send(.tunnelFailed(.tunnelInitFailed("busy")))
            if driver.state.request != nil { driver.send(.heartbeatAccepted(.init())) }
            while !driver.effects.contains(.startTunnel) {
                driver.advance()
                guard driver.effects.contains(.sendHeartbeat) else { continue }
                heartbeats += 1
                let starts = driver.effects.contains(.startTunnel)
                driver.send(.heartbeatAccepted(.init()))
                if starts { break }
            }
            gaps.append(driver.now - failed)
        }
        for (gap, seconds) in zip(gaps, [2.0, 4, 8]) {
            #expect(gap >= .seconds(seconds / 2) && gap <= .seconds(seconds * 1.5))
        }
        #expect(gaps.dropFirst(3).allSatisfy { $0 >= .seconds(300) && $0 <= .seconds(1_800) })
        #expect(heartbeats > 30)
    }

    @Test("without a route three tries are made, then nothing until there is one")
    func noRoute() {
        var driver = MachineDriver.provisioning()
        for _ in 0..<3 {
            driver.send(.provisionFailed(.init(.networkOffline)))
            #expect(driver.state.phase == .appRetry)
            driver.wait(for: .provision(acceptsOther: true))
        }
        driver.send(.provisionFailed(.init(.networkOffline)))
        #expect(driver.state.phase == .offline && driver.state.shown == .disconnected)
        #expect(driver.state.reason?.code == HealthCode.offline)
        let idle = driver.advance(by: .seconds(299))
        #expect(idle == [])
        driver.send(.online)
        #expect(driver.effects == [.provision(acceptsOther: true)])
    }

    @Test("a host without a network pauses heartbeats and goes on at once when it is back")
    func offline() {
        var driver = MachineDriver.settled()
        driver.send(.offline)
        #expect(driver.state.shown == .disconnected && driver.state.tunnelIsUp)
        let idle = driver.advance(by: .seconds(120))
        #expect(idle == [])
        driver.send(.online)
        #expect(driver.state.phase == .heartbeat)
        #expect(driver.effects == [.refreshTunnel, .sendHeartbeat])
    }

    @Test("a last handshake of more than 180 s is shown, asks for news, and is over with the next")
    func stale() {
        var driver = MachineDriver.settled()
        let handshake = driver.now
        var effects: [MachineDriver.Effect] = []
        while !driver.state.isStale {
            driver.advance(handshake: handshake)
            effects += driver.effects
            if driver.state.request != nil, !driver.state.isStale { driver.send(.heartbeatAccepted(.init())) }
        }
        #expect(driver.now > handshake + .seconds(180) && driver.now < handshake + .seconds(181))
        #expect(driver.state.shown == .connecting)
        #expect(driver.state.health.map(\.code) == [HealthCode.handshakeStale])
        #expect(driver.state.request?.kind == .heartbeat && driver.effects.contains(.refreshTunnel))
        driver.now += .seconds(3)
        driver.send(.timer(.init(isUp: true, lastHandshake: driver.now)))
        #expect(driver.state.shown == .connected && driver.state.health == [])
    }

    @Test("without keepalives an old handshake is no fault while there is nothing to send")
    func quiet() {
        var driver = MachineDriver.settled()
        let handshake = driver.now
        let end = driver.now + .seconds(7_200)
        var looks = 0
        while let deadline = driver.state.nextDeadline, deadline < end {
            driver.now = max(driver.now, deadline)
            driver.send(.timer(.init(isUp: true, lastHandshake: handshake, isQuiet: true)))
            looks += 1
            if driver.state.request != nil { driver.send(.heartbeatAccepted(.init())) }
            #expect(driver.state.shown == .connected && driver.state.health == [])
            #expect(!driver.effects.contains(.refreshTunnel))
        }
        // A heartbeat each 30 s and a look each 15 s, and not more.
        #expect(looks < 7_200 / 27 + 7_200 / 15 + 10)
        // What is sent and left unanswered is one.
        while let deadline = driver.state.nextDeadline, driver.state.shown == .connected, driver.now < end {
            driver.now = max(driver.now, deadline)
            driver.send(.timer(.init(isUp: true, lastHandshake: handshake, isQuiet: false)))
            if driver.state.request != nil { driver.send(.heartbeatAccepted(.init())) }
        }
        #expect(driver.state.shown == .connecting)
        #expect(driver.state.health.map(\.code) == ["handshake-stale"])
    }

    @Test("silence is what sends nothing, or what was sent a moment ago")
    func silence() {
        var tracker = SilenceTracker()
        func look(_ seconds: Int, _ sent: UInt64, handshake: Int? = 0, keepalives: Bool = false) -> Bool {
            tracker.look(
                sendsKeepalives: keepalives, sentByteCount: sent, handshake: handshake.map { .seconds($0) },
                now: .seconds(seconds))
        }
        #expect(!look(10, 148, handshake: nil))
        #expect(!look(180, 9_000))
        #expect(look(181, 9_000))
        #expect(look(3_600, 9_000))
        #expect(look(3_610, 9_148))
        #expect(look(3_624, 9_148))
        #expect(!look(3_625, 9_148))
        #expect(!look(9_000, 9_148))
        // A handshake ends it, and the next silence begins with what was sent until then.
        #expect(!look(9_100, 10_000, handshake: 9_099))
        #expect(look(9_300, 11_000, handshake: 9_099))
        #expect(look(9_400, 11_000, handshake: 9_099))
        // Another tunnel counts from 0.
        #expect(look(9_500, 148, handshake: 9_099))
        #expect(look(9_600, 296, handshake: 9_099))
        #expect(!look(9_700, 296, handshake: 9_099))
        #expect(!look(9_800, 296, handshake: 9_099, keepalives: true))
    }

    @Test("an interface that is lost while an unproven revocation stands is made anew from what is stored")
    func revokedAndLost() {
        var driver = MachineDriver.connected()
        driver.send(.heartbeatFailed(.init(.revoked)))
        #expect(driver.state.phase == .failed && driver.state.tunnelIsUp)
        driver.advance(isUp: false)
        #expect(!driver.state.tunnelIsUp)
        driver.wait(for: .startTunnel, within: .seconds(10))
        driver.send(.tunnelStarted)
        driver.advance(handshake: driver.now)
        #expect(driver.state.phase == .heartbeat && driver.state.shown == .connected)
        #expect(driver.state.health.map(\.code) == ["revoked"])
        // A server that still says so changes nothing of the tunnel.
        #expect(driver.state.request?.kind == .heartbeat)
        driver.send(.heartbeatFailed(.init(.revoked)))
        #expect(driver.state.phase == .failed && driver.state.tunnelIsUp)
        #expect(driver.state.inventory.hasIdentity)
    }

    @Test("stores that cannot be read lead to no request for another identity")
    func unreadable() {
        var driver = MachineDriver()
        driver.send([.booted(wantsUp: true, isOnline: true), .loadFailed(.secretStore(5))])
        #expect(driver.state.phase == .failed && driver.state.reason?.code == "secret-store")
        driver.send(.tokenSupplied(isPending: true))
        #expect(driver.effects == [.loadConfiguration])
        driver.send(.loadFailed(.secretStore(5)))
        let later = driver.advance(by: .seconds(7_200))
        #expect(later.allSatisfy { $0 == .loadConfiguration })
    }

    @Test("an identity that cannot be stored is used, its token kept, and storing tried again")
    func unsaved() {
        var driver = MachineDriver.provisioning()
        driver.send([.provisionAnswered, .identityAdopted(difference: .identity, problem: .secretStore(28))])
        #expect(driver.effects == [.startTunnel])
        #expect(driver.state.inventory.hasPendingToken)
        driver.send(.tunnelStarted)
        driver.send(.timer(.init(isUp: true, lastHandshake: driver.now)))
        driver.send(.heartbeatAccepted(.init()))
        #expect(driver.effects == [.saveIdentity])
        driver.send(.stored(nil))
        #expect(driver.state.health == [])
        driver.wait(for: .sendHeartbeat)
        driver.send(.heartbeatAccepted(.init()))
        #expect(driver.effects == [.erasePendingToken])
    }

    @Test("each failure is counted, and logged once in ten minutes for each code")
    func logging() {
        var driver = MachineDriver.connected()
        let before = driver.log.count
        for _ in 0..<20 {
            driver.send(.heartbeatFailed(.init(.cryptoDecryptionFailed, isMalformed: true)))
            driver.send(.refresh)
            while driver.state.request == nil { driver.advance(handshake: driver.now) }
        }
        #expect(driver.state.counters.malformedAnswers == 20)
        #expect(driver.state.counters.failures == ["decryption-failed": 20])
        #expect(driver.log.dropFirst(before).filter { $0.contains("[decryption-failed]") }.count == 1)
    }
}
