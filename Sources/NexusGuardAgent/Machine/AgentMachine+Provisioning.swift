// SPDX-License-Identifier: MIT

internal import AgentCore

extension AgentMachine {
    mutating func takeProvisioning(_ event: Event) {
        switch event {
        case .provisionAnswered:
            guard finish(.provision) != nil else { return effects.append(.discardIdentity) }
            state.counters.provisionsAccepted += 1
            state.isAdopting = true
            effects.append(.adoptIdentity)
        case .identityAdopted(let difference, let problem): takeIdentity(difference, problem)
        case .provisionFailed(let failure):
            guard finish(.provision, with: failure) != nil else { return }
            if state.inventory.hasIdentity {
                reprovisionFailed(failure)
            } else {
                provisionFailed(failure)
            }
        default: break
        }
    }

    private mutating func takeIdentity(_ difference: ConfigDifference, _ problem: AgentError?) {
        guard state.isAdopting else { return }
        state.isAdopting = false
        let isFirst = !state.inventory.hasIdentity
        state.inventory.hasIdentity = true
        state.storeProblem = problem
        state.isUnsaved = problem != nil
        if let problem {
            record(Failure(problem), tag: "store")
        } else {
            state.inventory.hasPendingToken = false
        }
        state.isUnauthorized = false
        state.isRevoked = false
        state.acceptsOtherIdentity = false
        state.hasFresherToken = false
        state.wantsReprovision = false
        state.wantsIdentity = false
        state.heartbeatFailures = 0
        state.heartbeatProblem = nil
        state.deadlines.reprovision = nil
        if !isFirst, difference > .forwards {
            state.candidate = difference
            state.candidateDigest = []
        }
        switch state.phase {
        case .provision, .failed, .appRetry:
            state.attempts = 0
            resume()
        case .boot, .stopped, .appInit, .offline, .tunnelUp, .heartbeat, .tunnelRebuild: break
        }
        if !isFirst { promptHeartbeat() }
    }

    private mutating func reprovisionFailed(_ failure: Failure) {
        record(failure, tag: "provision")
        if state.hasFresherToken {
            state.wantsReprovision = true
            return
        }
        if isRefusal(failure.error) { state.provisionNotBefore = now + jitteredRefusal() }
        let wait = now + slowDelay(round: state.heartbeatFailures)
        state.deadlines.reprovision = max(state.provisionNotBefore ?? wait, wait)
        if !state.wantsUp { state.wantsIdentity = false }
    }

    /// Whether the server understood the request and does not want to give an identity for it.
    private func isRefusal(_ error: AgentError) -> Bool {
        switch error {
        case .unauthorized, .revoked, .serverRejected(400...499): true
        default: false
        }
    }

    private mutating func provisionFailed(_ failure: Failure) {
        guard state.phase == .provision else { return record(failure, tag: "provision") }
        if state.hasFresherToken { return record(failure, tag: "provision") }
        switch failure.error {
        case .rateLimited(_?):
            retryLater(failure, tag: "provision")
            if state.deadlines.retry != nil { state.deadlines.retry = state.deadlines.hold }
        case let error where isRefusal(error):
            // The token is used up, wrong or another host's: asking more often only makes noise.
            record(failure, tag: "provision")
            let notBefore = now + jitteredRefusal()
            state.provisionNotBefore = notBefore
            if state.wantsUp {
                fail(failure.error)
                state.deadlines.retry = notBefore
            } else {
                state.wantsIdentity = false
                stand(in: .stopped)
                state.failure = failure.error
            }
        default:
            retryLater(failure, tag: "provision")
        }
    }
}
