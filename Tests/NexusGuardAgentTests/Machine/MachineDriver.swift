// SPDX-License-Identifier: MIT

import AgentCore
import Harness
import Testing

@testable import NexusGuardAgent

/// Drives the reducer in virtual time.
struct MachineDriver {
    typealias Effect = AgentMachine.Effect
    typealias Event = AgentMachine.Event

    var state = AgentMachine.State()
    var now: Duration = .seconds(1_000)
    var random: SeededGenerator
    /// What the effects of the last event were, without the lines of the log.
    var effects: [Effect] = []
    /// The lines of the log since the beginning.
    var log: [String] = []

    init(seed: UInt64 = 1) { random = SeededGenerator(seed: seed) }

    mutating func send(_ event: Event) {
        let environment = AgentMachine.Environment(now: now, entropy: random.next())
        let (next, all) = AgentMachine.reduce(state, event, environment)
        state = next
        effects = []
        for effect in all {
            if case .log(_, _, let message) = effect { log.append(message) } else { effects.append(effect) }
        }
    }

    mutating func send(_ events: [Event]) {
        for event in events { send(event) }
    }

    /// Goes to the next deadline and lets it come.
    ///
    /// - Parameter handshake: The last handshake that is seen then.
    /// - Returns: Whether there was a deadline.
    @discardableResult
    mutating func advance(handshake: Duration? = nil, isUp: Bool = true) -> Bool {
        guard let deadline = state.nextDeadline else { return false }
        now = max(now, deadline)
        send(.timer(state.tunnelIsUp ? .init(isUp: isUp, lastHandshake: handshake) : nil))
        return true
    }

    /// Lets deadlines come until one of the effects is this; it must be, within a time.
    mutating func wait(
        for effect: Effect, within limit: Duration = .seconds(7_200),
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let end = now + limit
        while let deadline = state.nextDeadline, deadline <= end {
            advance()
            if effects.contains(effect) { return }
        }
        Issue.record("\(effect) does not come", sourceLocation: sourceLocation)
    }

    /// Lets deadlines come until this time has passed, and collects the effects.
    mutating func advance(by duration: Duration, handshake: Duration? = nil) -> [Effect] {
        let end = now + duration
        var all: [Effect] = []
        while let deadline = state.nextDeadline, deadline <= end {
            advance(handshake: handshake)
            all += effects
        }
        now = end
        return all
    }
}

extension AgentMachine.Failure {
    static let timeout = Self(.heartbeatFailed("no answer in time"))
}

extension MachineDriver {
    typealias Inventory = AgentMachine.Inventory

    static let identity = Inventory(hasIdentity: true)
    static let token = Inventory(hasIdentity: false, hasPendingToken: true)

    /// What was stored is known and the tunnel is not wanted.
    static func stopped(_ inventory: Inventory = Inventory(hasIdentity: false)) -> MachineDriver {
        var driver = MachineDriver()
        driver.send([.booted(wantsUp: false, isOnline: true), .loaded(inventory)])
        return driver
    }

    /// A request for an identity is in flight.
    static func provisioning() -> MachineDriver {
        var driver = MachineDriver()
        driver.send([.booted(wantsUp: true, isOnline: true), .loaded(token)])
        return driver
    }

    /// The tunnel is being brought up from what is stored.
    static func starting(_ inventory: Inventory = identity) -> MachineDriver {
        var driver = MachineDriver()
        driver.send([.booted(wantsUp: true, isOnline: true), .loaded(inventory)])
        return driver
    }

    /// The tunnel waits for its first handshake.
    static func waiting(_ inventory: Inventory = identity) -> MachineDriver {
        var driver = starting(inventory)
        driver.send(.tunnelStarted)
        return driver
    }

    /// The tunnel works and the first heartbeat is in flight.
    static func connected(_ inventory: Inventory = identity) -> MachineDriver {
        var driver = waiting(inventory)
        driver.now += .seconds(1)
        driver.send(.timer(.init(isUp: true, lastHandshake: driver.now)))
        return driver
    }

    /// The tunnel works and the server has answered.
    static func settled(_ inventory: Inventory = identity) -> MachineDriver {
        var driver = connected(inventory)
        driver.send(.heartbeatAccepted(.init()))
        return driver
    }

    /// A configuration is being applied.
    static func applying(_ difference: ConfigDifference = .peer) -> MachineDriver {
        var driver = connected()
        driver.send(.heartbeatAccepted(.init(difference: difference, digest: [1])))
        return driver
    }

    /// Another identity runs and has no handshake yet.
    static func verifying() -> MachineDriver {
        var driver = applying(.identity)
        driver.send(.applied(.identity))
        return driver
    }
}
