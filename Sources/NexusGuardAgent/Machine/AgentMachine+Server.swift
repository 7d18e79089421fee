// SPDX-License-Identifier: MIT

internal import AgentCore

extension AgentMachine {
    mutating func takeServer(_ event: Event) {
        switch event {
        case .heartbeatAccepted(let news):
            guard finish(.heartbeat, .farewell) != nil else { return }
            accept(news)
        case .heartbeatFailed(let failure):
            guard let kind = finish(.heartbeat, .farewell, with: failure) else { return }
            record(failure, tag: "heartbeat")
            if kind == .heartbeat { backOff(failure) }
        case .forwardsFetched:
            guard finish(.forwards) != nil else { return }
            state.forwardsProblem = nil
        case .forwardsFailed(let failure):
            guard finish(.forwards, with: failure) != nil else { return }
            record(failure, tag: "forwards")
            state.forwardsProblem = failure.error
        case .deprovisioned:
            guard finish(.deprovision) != nil else { return }
            if state.wantsUp { effects.append(.saveWantsUp(false)) }
            effects.append(.eraseIdentity)
            forgetIdentity()
            stand(in: .stopped)
        case .deprovisionFailed(let failure):
            guard finish(.deprovision, with: failure) != nil else { return }
            record(failure, tag: "deprovision")
        case .stored(let problem):
            state.storeProblem = problem
            state.isUnsaved = state.isUnsaved && problem != nil
            if let problem { record(Failure(problem), tag: "store") }
        default: break
        }
    }

    private mutating func accept(_ news: News) {
        state.counters.heartbeatsAccepted += 1
        state.heartbeatFailures = 0
        state.heartbeatProblem = nil
        state.isUnauthorized = false
        state.acceptsOtherIdentity = false
        state.wantsIdentity = false
        state.wantsReprovision = false
        state.deadlines.reprovision = nil
        state.clockSkew = news.clockSkew
        setInterval(news.nextInterval ?? Timing.heartbeat)
        state.wantsForwards = news.needsForwards
        if state.isUnsaved {
            effects.append(.saveIdentity)
        } else if state.inventory.hasPendingToken {
            // The identity works and is stored: the token has nothing left to do.
            state.inventory.hasPendingToken = false
            effects.append(.erasePendingToken)
        }
        if news.difference > .forwards, isAcceptable(news.digest), !isBeingApplied(news.digest) {
            state.candidate = news.difference
            state.candidateDigest = news.digest
        }
        if state.isRevoked {
            state.isRevoked = false
            if state.phase == .failed { resume() }
        }
    }

    private mutating func setInterval(_ wish: Duration) {
        let bounds = Timing.heartbeatBounds
        let interval = state.fixedInterval ?? min(max(wish, bounds.lowerBound), bounds.upperBound)
        guard interval != state.interval else { return }
        state.interval = interval
        state.spreadsNextHeartbeat = true
    }

    /// Whether a configuration that came again is the one that is being applied just now.
    private func isBeingApplied(_ digest: [UInt8]) -> Bool {
        state.tunnelWork == .applying && state.candidate == nil && state.candidateDigest == digest
    }

    private func isAcceptable(_ digest: [UInt8]) -> Bool {
        guard let rejection = state.rejection, rejection.digest == digest else { return true }
        // A tunnel that does not work either is no reason to wait.
        return rejection.until <= now || (!state.isFresh(at: now) && state.phase != .tunnelUp)
    }

    private mutating func backOff(_ failure: Failure) {
        state.heartbeatFailures += 1
        state.heartbeatProblem = failure.error
        state.spreadsNextHeartbeat = true
        guard maySendHeartbeat else { return }
        switch failure.error {
        case .unauthorized:
            state.isUnauthorized = true
            planReprovision()
            postponeHeartbeat(by: slowDelay(round: state.heartbeatFailures))
        case .revoked where failure.isProven:
            log(.error, "heartbeat", "the server has revoked this device")
            effects.append(.eraseIdentity)
            let wantsUp = state.wantsUp
            forgetIdentity()
            state.wantsUp = wantsUp
            state.isRevoked = true
            fail(.revoked)
        case .revoked:
            // Anything between here and the server may say so: what works is kept until the server proves it.
            state.isRevoked = true
            if state.tunnelIsUp, state.tunnelWork == nil, !state.isVerifying { fail(.revoked) }
            postponeHeartbeat(by: slowDelay(round: state.heartbeatFailures))
        case .networkOffline
        where state.heartbeatFailures > Timing.fastRetries.count && !state.isFresh(at: now):
            goOffline()
        default:
            postponeHeartbeat(by: heartbeatBackOff())
        }
    }

    /// The next heartbeat, unless one out of turn is wanted already, comes this much later.
    private mutating func postponeHeartbeat(by delay: Duration) {
        guard !state.wantsHeartbeat else { return }
        state.deadlines.heartbeat = max(now + delay, state.deadlines.hold ?? .zero)
    }

    private mutating func heartbeatBackOff() -> Duration {
        let failures = state.heartbeatFailures
        let fast = Timing.fastRetries
        guard failures > fast.count else { return jittered(fast[max(failures, 1) - 1], by: 0.5) }
        let doublings = min(failures - fast.count, 6)
        let most = min(Timing.slowRetries.upperBound, Timing.heartbeatBackOff * (1 << doublings))
        return chance(from: Timing.heartbeatBackOff, to: most)
    }

    private mutating func planReprovision() {
        guard state.hasToken, state.deadlines.reprovision == nil else { return }
        let soon = now + chance(from: .zero, to: Timing.reprovisionSpread)
        state.deadlines.reprovision = max(soon, state.provisionNotBefore ?? soon)
    }
}
