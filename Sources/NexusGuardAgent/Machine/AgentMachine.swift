// SPDX-License-Identifier: MIT

internal import AgentCore

/// Decides what the agent does, and when: a pure function of state, event, time and chance.
///
/// An event first changes what is known. Then the machine settles: it starts what the state asks for and
/// the rules allow, so that each rule (one request at a time, nothing while the server wants none, one
/// change to the tunnel at a time) stands in one place, whatever event came before.
package struct AgentMachine {
    var state: State
    var effects: [Effect] = []
    let now: Duration
    private var fractions: Fractions

    private init(state: State, environment: Environment) {
        self.state = state
        now = environment.now
        fractions = Fractions(environment.entropy)
    }

    /// The state after an event, and what is to be done because of it, in order.
    package static func reduce(
        _ state: State, _ event: Event, _ environment: Environment
    ) -> (State, [Effect]) {
        var machine = AgentMachine(state: state, environment: environment)
        machine.take(event)
        machine.settle()
        if machine.state.phase != state.phase { machine.logPhase(before: state.phase) }
        return (machine.state, machine.effects)
    }

    private mutating func take(_ event: Event) {
        switch event {
        case .booted, .loaded, .loadFailed, .shutdown: takeHost(event)
        case .up, .down, .restart, .refresh, .tokenSupplied, .deprovision, .reset, .settingsChanged,
            .configImported:
            takeUser(event)
        case .online, .offline, .networkChanged: takeNetwork(event)
        case .tunnelStarted, .tunnelFailed, .tunnelStopped, .applied, .applyFailed, .rolledBack,
            .rollBackFailed:
            takeTunnel(event)
        case .provisionAnswered, .identityAdopted, .provisionFailed: takeProvisioning(event)
        case .heartbeatAccepted, .heartbeatFailed, .forwardsFetched, .forwardsFailed, .deprovisioned,
            .deprovisionFailed, .stored:
            takeServer(event)
        case .timer(let observation):
            if let observation { observe(observation) }
            takeDeadlines()
        }
    }

    /// A random time between two.
    mutating func chance(from least: Duration, to most: Duration) -> Duration {
        least + (most - least) * fractions.next()
    }

    /// A random time around one, up to a part of it to both sides.
    mutating func jittered(_ duration: Duration, by part: Double) -> Duration {
        chance(from: duration * (1 - part), to: duration * (1 + part))
    }

    /// How long to wait before the next try of what failed this often in a row.
    mutating func retryDelay(afterFailures count: Int) -> Duration {
        if count <= Timing.fastRetries.count {
            return jittered(Timing.fastRetries[max(count, 1) - 1], by: 0.5)
        }
        return slowDelay(round: count - Timing.fastRetries.count)
    }

    /// A slow retry: anywhere between the shortest and a longest that doubles in each round.
    mutating func slowDelay(round: Int) -> Duration {
        let bounds = Timing.slowRetries
        let most = min(bounds.upperBound, bounds.lowerBound * (1 << min(max(round, 1), 4)))
        return chance(from: bounds.lowerBound, to: most)
    }

    /// Logs a line.
    mutating func log(_ level: LogLevel, _ tag: String, _ message: String) {
        effects.append(.log(level, tag: tag, message: message))
    }

    /// Counts a failure; logs it unless one with the same code was logged a short while ago.
    mutating func record(_ failure: Failure, tag: String) {
        let code = failure.error.code
        state.counters.failures[code, default: 0] += 1
        if failure.isMalformed { state.counters.malformedAnswers += 1 }
        if let last = state.lastLogged[code], now - last < Timing.logPeriod { return }
        state.lastLogged[code] = now
        log(.warn, tag, "\(failure.error) [\(code)]")
    }

    private mutating func logPhase(before: AgentPhase) {
        var message = "\(before.rawValue) -> \(state.phase.rawValue)"
        if let failure = state.failure, state.phase == .appRetry || state.phase == .failed {
            message += ": \(failure) [\(failure.code)]"
        }
        log(state.phase == .failed ? .error : .info, "agent", message)
    }
}
