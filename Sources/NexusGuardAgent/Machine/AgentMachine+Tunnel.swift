// SPDX-License-Identifier: MIT

internal import AgentCore

extension AgentMachine {
    mutating func takeTunnel(_ event: Event) {
        switch event {
        case .tunnelStarted:
            guard finish(.starting) else { return }
            state.tunnelIsUp = true
            forgetHandshake()
            state.counters.tunnelStarts += 1
            if state.phase == .tunnelUp { state.deadlines.handshake = now + Timing.firstHandshake }
        case .tunnelFailed(let error):
            guard finish(.starting) else { return }
            state.tunnelIsUp = false
            guard state.phase == .tunnelUp else { return record(Failure(error), tag: "tunnel") }
            retryLater(Failure(error), tag: "tunnel")
            promptHeartbeat()
        case .tunnelStopped:
            guard finish(.stopping) else { return }
            tunnelIsGone()
        case .applied(let difference): takeApplied(difference)
        case .applyFailed(let error):
            guard finish(.applying) else { return }
            takeBack(error)
            effects.append(.discardCandidate)
            resumeAfterWork()
        case .rolledBack:
            guard finish(.rollingBack) else { return }
            forgetHandshake()
            resumeAfterWork()
        case .rollBackFailed(let error):
            guard finish(.rollingBack) else { return }
            record(Failure(error), tag: "tunnel")
            // What runs is known to be bad: take it down whole and begin with what is known to be good.
            state.tunnelWork = .stopping
            effects.append(.stopTunnel)
            if state.phase == .tunnelRebuild { state.phase = .tunnelUp }
        default: break
        }
    }

    private mutating func finish(_ work: TunnelWork) -> Bool {
        guard state.tunnelWork == work else { return false }
        state.tunnelWork = nil
        return true
    }

    private mutating func takeApplied(_ difference: ConfigDifference) {
        guard finish(.applying) else { return }
        if difference == .identity {
            state.isVerifying = true
            forgetHandshake()
        } else {
            candidateIsGood()
        }
        resumeAfterWork()
    }

    private mutating func resumeAfterWork() {
        if state.phase == .tunnelRebuild || state.phase == .tunnelUp { resume() }
    }

    private mutating func candidateIsGood() {
        state.isVerifying = false
        state.rejection = nil
        state.counters.rebuilds += 1
        effects.append(.confirmCandidate)
        log(.info, "tunnel", "the new configuration is in use")
    }

    private mutating func tunnelIsGone() {
        state.tunnelIsUp = false
        forgetHandshake()
        state.deadlines.handshake = nil
        state.deadlines.refresh = nil
        guard state.isVerifying else { return }
        state.isVerifying = false
        effects.append(.discardCandidate)
    }

    private mutating func forgetHandshake() {
        state.lastHandshake = nil
        state.isStale = false
        state.isQuiet = false
    }

    /// Takes note of what a look at the tunnel shows.
    mutating func observe(_ observation: Observation) {
        guard state.tunnelIsUp, state.tunnelWork == nil else { return }
        guard observation.isUp else {
            tunnelIsGone()
            switch state.phase {
            // Said to be revoked but not proven so: what works is brought up again as it was.
            case .failed where !state.inventory.hasIdentity: break
            case .tunnelUp, .heartbeat, .tunnelRebuild, .appRetry, .failed:
                retryLater(Failure(.tunnelInitFailed("the interface is gone")), tag: "tunnel")
                promptHeartbeat()
            case .boot, .stopped, .appInit, .provision, .offline: break
            }
            return
        }
        state.isQuiet = observation.isQuiet
        guard let handshake = observation.lastHandshake,
            state.lastHandshake.map({ handshake > $0 }) ?? true
        else { return }
        state.lastHandshake = handshake
        if state.isFresh(at: now) { takeHandshake() }
    }

    private mutating func takeHandshake() {
        let wasStale = state.isStale
        state.isStale = false
        state.deadlines.refresh = nil
        if state.isVerifying { candidateIsGood() }
        switch state.phase {
        case .tunnelUp, .appRetry, .tunnelRebuild:
            enterHeartbeat()
            promptHeartbeat()
        case .heartbeat where wasStale:
            log(.info, "tunnel", "there is a handshake again")
            promptHeartbeat()
        case .boot, .stopped, .appInit, .provision, .offline, .heartbeat, .failed: break
        }
    }

    /// The time for the handshake that a tunnel must have is over.
    mutating func handshakeMissed() {
        guard state.tunnelWork == nil else { return }
        if state.isVerifying {
            state.isVerifying = false
            takeBack(.handshakeTimedOut)
            state.phase = .tunnelRebuild
            state.tunnelWork = .rollingBack
            effects.append(.rollBack)
        } else if state.phase == .tunnelUp {
            retryLater(Failure(.handshakeTimedOut), tag: "tunnel")
            // The server may know where it is now, or which key it has.
            promptHeartbeat()
        }
    }

    /// Remembers that a configuration did not work, so that it is not tried in each heartbeat.
    private mutating func takeBack(_ error: AgentError) {
        let before = state.rejection.flatMap { $0.digest == state.candidateDigest ? $0.count : nil } ?? 0
        let wait = min(Timing.slowRetries.upperBound, Timing.rejection * (1 << min(before, 4)))
        state.rejection = Rejection(
            digest: state.candidateDigest, error: error, count: before + 1,
            until: now + jittered(wait, by: 0.5))
        state.counters.rollbacks += 1
        record(Failure(error), tag: "tunnel")
        log(.warn, "tunnel", "the new configuration is taken back: \(error) [\(HealthCode.rolledBack)]")
    }

    /// Sees whether the last handshake has become too old, and what may help.
    mutating func noteStaleness() {
        guard state.tunnelIsUp, state.tunnelWork == nil, !state.isFresh(at: now), !state.isQuiet,
            [.heartbeat, .appRetry, .failed].contains(state.phase)
        else { return }
        if state.phase == .heartbeat, !state.isStale {
            state.isStale = true
            log(.warn, "tunnel", "no handshake for \(Timing.staleAfter) [\(HealthCode.handshakeStale)]")
            promptHeartbeat()
        }
        // Only the server's name may have moved, which no heartbeat tells.
        if state.deadlines.refresh == nil {
            refreshTunnel()
            state.deadlines.refresh = state.deadlines.refresh ?? now + Timing.staleRefresh
        }
    }
}
