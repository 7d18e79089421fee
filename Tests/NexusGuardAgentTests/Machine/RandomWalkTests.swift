// SPDX-License-Identifier: MIT

import AgentCore
import Harness
import Testing

@testable import NexusGuardAgent

/// The world around the reducer: answers what it asked for, and does what it likes besides.
struct RandomWorld {
    var driver: MachineDriver
    var random: SeededGenerator
    var requests: [MachineDriver.Effect] = []
    var works: [MachineDriver.Effect] = []
    var isAdopting = false
    var isLoading = false
    var hasIdentity = false
    var tunnelIsUp = false
    var lastRefused: Duration?
    var holdUntil: Duration = .zero
    var heartbeats: [Duration] = []
    var faults: [String] = []

    init(seed: UInt64) {
        driver = MachineDriver(seed: seed)
        random = SeededGenerator(seed: seed &* 31)
        hasIdentity = Bool.random(using: &random)
    }

    mutating func fault(_ text: String, _ event: MachineDriver.Event) {
        guard faults.count < 10 else { return }
        faults.append("\(text) after \(event) in \(driver.state.phase) at \(driver.now)")
    }

    mutating func step() {
        if Int.random(in: 0..<100, using: &random) < 60, driver.state.nextDeadline != nil {
            // Deadlines come on time or, after a sleep of the host, late.
            let late: Duration = Int.random(in: 0..<50, using: &random) == 0 ? .seconds(5_000) : .zero
            driver.now = max(driver.now, (driver.state.nextDeadline ?? driver.now) + late)
            apply(.timer(observation()))
        } else {
            driver.now += .milliseconds(Int.random(in: 0..<3_000, using: &random))
            apply(nextEvent())
        }
    }

    private mutating func observation() -> AgentMachine.Observation? {
        guard driver.state.tunnelIsUp else { return nil }
        let handshake = Int.random(in: 0..<4, using: &random) > 0 ? driver.now : nil
        return .init(isUp: Int.random(in: 0..<200, using: &random) > 0, lastHandshake: handshake)
    }

    private mutating func nextEvent() -> MachineDriver.Event {
        let isAnswer = Int.random(in: 0..<100, using: &random) < 70
        if isAnswer, isLoading { return loaded() }
        if isAnswer, isAdopting {
            return .identityAdopted(difference: .identity, problem: oneIn(10) ? .secretStore(28) : nil)
        }
        if isAnswer, let work = works.first { return answer(to: work) }
        if isAnswer, let request = requests.first { return answer(to: request) }
        return surprise()
    }

    private mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func loaded() -> MachineDriver.Event {
        if oneIn(20) { return .loadFailed(.secretStore(5)) }
        return .loaded(
            .init(
                hasIdentity: hasIdentity, hasPendingToken: driver.state.inventory.hasPendingToken,
                hasConfiguredToken: oneIn(2), hasServer: !oneIn(10)))
    }

    private mutating func failure() -> AgentMachine.Failure {
        let errors: [AgentError] = [
            .networkOffline, .heartbeatFailed("x"), .cryptoDecryptionFailed, .unauthorized, .unauthorized,
            .rateLimited(retryAfter: .seconds(120)), .rateLimited(retryAfter: nil), .serverRejected(500),
            .serverRejected(409), .tls("x"), .captivePortal, .clockSkew(.seconds(999)), .revoked,
            .identityMismatch, .configInvalid(field: "x", reason: "y"),
        ]
        let error = errors[Int.random(in: 0..<errors.count, using: &random)]
        return .init(error, isMalformed: oneIn(2), isProven: error == .revoked && oneIn(3))
    }

    private mutating func answer(to request: MachineDriver.Effect) -> MachineDriver.Event {
        switch request {
        case .startTunnel: oneIn(3) ? .tunnelFailed(.tunnelInitFailed("x")) : .tunnelStarted
        case .stopTunnel: .tunnelStopped
        case .applyCandidate:
            oneIn(4) ? .applyFailed(.tunnelInitFailed("x")) : .applied(oneIn(2) ? .identity : .peer)
        case .rollBack: oneIn(4) ? .rollBackFailed(.tunnelInitFailed("x")) : .rolledBack
        case .provision: oneIn(2) ? .provisionAnswered : .provisionFailed(failure())
        case .sendHeartbeat:
            oneIn(2)
                ? .heartbeatAccepted(
                    .init(
                        difference: ConfigDifference.allCases.randomElement(using: &random) ?? .none,
                        digest: [UInt8.random(in: 0...2, using: &random)],
                        nextInterval: oneIn(3) ? .seconds(60) : nil, needsForwards: oneIn(3)))
                : .heartbeatFailed(failure())
        case .fetchForwards: oneIn(2) ? .forwardsFetched : .forwardsFailed(failure())
        case .deprovision: oneIn(2) ? .deprovisioned : .deprovisionFailed(failure())
        default: surprise()
        }
    }

    private mutating func surprise() -> MachineDriver.Event {
        let events: [MachineDriver.Event] = [
            .booted(wantsUp: true, isOnline: true), .booted(wantsUp: true, isOnline: true), .up, .up, .up,
            .down, .restart, .refresh, .refresh, .tokenSupplied(isPending: true),
            .tokenSupplied(isPending: true), .online, .online, .offline, .networkChanged, .networkChanged,
            .settingsChanged(hasServer: true, hasConfiguredToken: oneIn(2), isOtherServer: oneIn(2)),
            .settingsChanged(hasServer: !oneIn(5), hasConfiguredToken: false, isOtherServer: true),
            .stored(oneIn(2) ? nil : .secretStore(28)), .timer(nil),
            oneIn(10) ? .deprovision : .networkChanged, oneIn(20) ? .reset : .up,
            oneIn(10) ? .configImported(difference: oneIn(2) ? .identity : .host) : .up,
            // Answers to what nobody asked.
            .heartbeatAccepted(.init(difference: .identity)), .heartbeatFailed(.init(.unauthorized)),
            .tunnelStarted, .tunnelStopped, .applied(.identity), .rolledBack, .provisionAnswered,
            .identityAdopted(difference: .identity, problem: nil), .deprovisioned,
        ]
        return events[Int.random(in: 0..<events.count, using: &random)]
    }

    /// Sends an event and checks what came of it.
    private mutating func apply(_ event: MachineDriver.Event) {
        let before = driver.state
        note(event, before)
        driver.send(event)
        for effect in driver.effects { take(effect, event, before) }
        let state = driver.state
        if requests.isEmpty != (state.request == nil) { fault("request and state differ", event) }
        if works.isEmpty != (state.tunnelWork == nil) { fault("work and state differ", event) }
        if tunnelIsUp != state.tunnelIsUp, works.isEmpty { fault("tunnel and state differ", event) }
        if case .timer = event, let deadline = state.nextDeadline, deadline <= driver.now {
            fault("a deadline is not in the future", event)
        }
        if let deadline = state.nextDeadline, deadline <= driver.now, !before.deadlines.all.contains(deadline)
        {
            fault("a new deadline is in the past", event)
        }
        if state.phase == .stopped, !state.wantsUp, state.tunnelIsUp, state.tunnelWork == nil {
            fault("the tunnel is up though it is not wanted", event)
        }
        if !state.inventory.hasIdentity, state.tunnelIsUp, state.tunnelWork == nil {
            fault("a tunnel without an identity", event)
        }
        let isWaiting = state.request == nil && state.tunnelWork == nil && !isLoading && !isAdopting
        let hasWork = [.provision, .appRetry, .offline, .tunnelUp, .heartbeat, .tunnelRebuild, .appInit]
            .contains(state.phase)
        if isWaiting, hasWork, state.nextDeadline == nil { fault("nothing will ever happen", event) }
        if state.heartbeatFailures < 0 || state.attempts < 0 { fault("a count below zero", event) }
    }

    private mutating func note(_ event: MachineDriver.Event, _ before: AgentMachine.State) {
        if event.isAnswer, !requests.isEmpty, isAnswerToRequest(event) {
            requests.removeFirst()
            if case .heartbeatFailed(let failure) = event { noteHold(failure, before) }
            if case .forwardsFailed(let failure) = event { noteHold(failure, before) }
            if case .deprovisionFailed(let failure) = event { noteHold(failure, before) }
            if case .provisionFailed(let failure) = event { noteHold(failure, before) }
        }
        switch (event, works.first) {
        case (.tunnelStarted, .startTunnel): tunnelIsUp = true
        case (.tunnelFailed, .startTunnel), (.tunnelStopped, .stopTunnel): tunnelIsUp = false
        case (.applied, .applyCandidate), (.applyFailed, .applyCandidate), (.rolledBack, .rollBack),
            (.rollBackFailed, .rollBack):
            break
        case (.loaded, _), (.loadFailed, _):
            isLoading = false
            return
        case (.identityAdopted, _):
            if isAdopting { hasIdentity = true }
            isAdopting = false
            return
        case (.configImported, _):
            hasIdentity = true
            return
        case (.reset, _):
            isAdopting = false
            lastRefused = nil
            return
        case (.settingsChanged(_, _, true), _):
            holdUntil = .zero
            lastRefused = nil
            return
        case (.tokenSupplied, _):
            lastRefused = nil
            return
        case (.timer(let observation), _):
            if let observation, !observation.isUp, before.tunnelIsUp, works.isEmpty { tunnelIsUp = false }
            return
        default: return
        }
        works.removeFirst()
    }

    private mutating func noteHold(_ failure: AgentMachine.Failure, _ before: AgentMachine.State) {
        guard case .rateLimited(let wait?) = failure.error, before.request?.isAbandoned == false else {
            return
        }
        holdUntil = driver.now + wait
    }

    private func isAnswerToRequest(_ event: MachineDriver.Event) -> Bool {
        switch (event, requests.first) {
        case (.provisionAnswered, .provision), (.provisionFailed, .provision),
            (.heartbeatAccepted, .sendHeartbeat), (.heartbeatFailed, .sendHeartbeat),
            (.forwardsFetched, .fetchForwards), (.forwardsFailed, .fetchForwards),
            (.deprovisioned, .deprovision), (.deprovisionFailed, .deprovision):
            true
        default: false
        }
    }

    private mutating func take(
        _ effect: MachineDriver.Effect, _ event: MachineDriver.Event, _ before: AgentMachine.State
    ) {
        if effect.isRequest {
            if !requests.isEmpty { fault("a second request", event) }
            requests.append(effect)
            if driver.now < holdUntil { fault("a request before the server wants one", event) }
            if !driver.state.isOnline { fault("a request without a network", event) }
        }
        if effect.isTunnelWork {
            if !works.isEmpty { fault("a second change of the tunnel", event) }
            works.append(effect)
            if effect == .startTunnel, tunnelIsUp || !hasIdentity { fault("a start out of turn", event) }
            if effect != .startTunnel, !tunnelIsUp { fault("a change of no tunnel", event) }
        }
        switch effect {
        case .loadConfiguration: isLoading = true
        case .adoptIdentity: isAdopting = true
        case .sendHeartbeat: noteHeartbeat(event)
        case .provision(let acceptsOther): noteProvision(acceptsOther, event, before)
        case .eraseIdentity:
            if case .heartbeatFailed(let failure) = event, failure.isProven { hasIdentity = false; return }
            if case .deprovisioned = event { hasIdentity = false; return }
            fault("an identity is erased without proof", event)
        case .eraseEverything:
            hasIdentity = false
            if event != .reset { fault("everything is erased without a user", event) }
        default: break
        }
    }

    private mutating func noteHeartbeat(_ event: MachineDriver.Event) {
        if !hasIdentity { fault("a heartbeat without an identity", event) }
        heartbeats.append(driver.now)
        heartbeats.removeAll { driver.now - $0 > .seconds(60) }
        // The shortest interval, the prompts, the fast tries and a farewell in each of many stops.
        if heartbeats.count > 40 { fault("a storm of heartbeats", event) }
    }

    private mutating func noteProvision(
        _ acceptsOther: Bool, _ event: MachineDriver.Event, _ before: AgentMachine.State
    ) {
        guard hasIdentity else { return }
        let isRefused = driver.state.isUnauthorized || driver.state.isRevoked
        if !isRefused { fault("a request for an identity beside a good one", event) }
        if acceptsOther { return }
        if let lastRefused, driver.now - lastRefused < .seconds(3_600) {
            fault("a second request for an identity within the hour", event)
        }
        lastRefused = driver.now
    }
}

@Suite("a random walk through the states of the agent")
struct RandomWalkTests {
    @Test("no rule is broken by 50,000 events in any order", arguments: UInt64(1)...6)
    func walk(seed: UInt64) {
        var world = RandomWorld(seed: seed)
        var phases: Set<AgentPhase> = []
        for _ in 0..<50_000 {
            world.step()
            phases.insert(world.driver.state.phase)
            if !world.faults.isEmpty { break }
        }
        #expect(world.faults == [], "seed \(seed)")
        #expect(phases.isSuperset(of: AgentPhase.allCases.filter { $0 != .boot }), "seed \(seed)")
        #expect(world.driver.state.counters.heartbeatsAccepted > 100)
    }
}

extension AgentMachine.Deadlines {
    /// Those that are set.
    var all: [Duration] {
        [retry, heartbeat, handshake, poll, refresh, reprovision, hold].compactMap(\.self)
    }
}
