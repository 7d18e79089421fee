// SPDX-License-Identifier: MIT

internal import AgentCore

extension AgentMachine {
    mutating func takeUser(_ event: Event) {
        switch event {
        case .up: takeUp()
        case .down: takeDown()
        case .restart: takeRestart()
        case .refresh: takeRefresh()
        case .tokenSupplied(let isPending): takeToken(isPending: isPending)
        case .deprovision: state.wantsDeprovision = state.inventory.hasIdentity
        case .reset: takeReset()
        case .settingsChanged(let hasServer, let hasConfiguredToken, let isOtherServer):
            state.inventory.hasServer = hasServer
            state.inventory.hasConfiguredToken = hasConfiguredToken
            guard isOtherServer else { return }
            state.deadlines.hold = nil
            state.heartbeatFailures = 0
            state.heartbeatProblem = nil
            state.provisionNotBefore = nil
            // What the other server said of this device, or is about to say, does not count here.
            state.request?.isAbandoned = true
            state.isUnauthorized = false
            state.isRevoked = state.isRevoked && !state.inventory.hasIdentity
            state.wantsReprovision = false
            state.acceptsOtherIdentity = false
            state.deadlines.reprovision = nil
            takeRefresh()
        case .configImported(let difference): takeImport(difference)
        default: break
        }
    }

    private mutating func takeUp() {
        if state.wantsUp {
            if [.appRetry, .offline, .failed].contains(state.phase) { takeRefresh() }
            return
        }
        state.wantsUp = true
        state.wantsFarewell = false
        effects.append(.saveWantsUp(true))
        if state.phase == .stopped { initialize() }
    }

    private mutating func takeDown() {
        guard state.isActive else { return }
        if state.wantsUp { effects.append(.saveWantsUp(false)) }
        state.wantsFarewell = state.wantsUp && state.tunnelIsUp && state.inventory.hasIdentity
        state.wantsUp = false
        state.wantsIdentity = false
        state.wantsReprovision = false
        state.failure = nil
        if state.phase != .boot { stand(in: .stopped) }
    }

    private mutating func takeRestart() {
        guard state.wantsUp else { return }
        guard state.tunnelIsUp else { return takeRefresh() }
        state.wantsRestart = true
        state.attempts = 0
    }

    private mutating func takeRefresh() {
        state.attempts = 0
        state.heartbeatFailures = 0
        switch state.phase {
        case .offline:
            state.isOnline = true
            resume()
            promptHeartbeat()
        case .appRetry:
            resume()
            promptHeartbeat()
        case .stopped:
            // Once, so that the user hears what the server says.
            state.wantsFarewell = state.inventory.hasIdentity && !state.isShuttingDown
        case .failed:
            // A token may have been put where the administrator's settings say.
            if state.inventory.hasIdentity, !state.isRevoked { resume() }
            if !state.inventory.hasIdentity { initialize() }
            promptHeartbeat()
        case .tunnelUp, .heartbeat, .tunnelRebuild: promptHeartbeat()
        case .boot, .appInit, .provision: break
        }
    }

    private mutating func takeToken(isPending: Bool) {
        if isPending { state.inventory.hasPendingToken = true }
        let identityIsRefused = state.isUnauthorized || state.isRevoked
        guard !state.inventory.hasIdentity || identityIsRefused, state.hasToken else { return }
        state.provisionNotBefore = nil
        state.attempts = 0
        state.wantsIdentity = true
        state.acceptsOtherIdentity = true
        // The request that is in flight may still bring an identity, and then that is the one.
        state.hasFresherToken = state.request?.kind == .provision
        if state.inventory.hasIdentity {
            state.wantsReprovision = true
        } else {
            state.isRevoked = false
        }
        switch state.phase {
        case .stopped, .failed, .appRetry: resume()
        case .boot, .appInit, .provision, .offline, .tunnelUp, .heartbeat, .tunnelRebuild: break
        }
    }

    private mutating func takeReset() {
        state.request?.isAbandoned = true
        state.isAdopting = false
        if state.wantsUp { effects.append(.saveWantsUp(false)) }
        effects.append(.eraseEverything)
        forgetIdentity()
        state.inventory.hasPendingToken = false
        state.isRevoked = false
        state.provisionNotBefore = nil
        state.storeProblem = nil
        state.isUnreadable = false
        state.isUnsaved = false
        if state.phase != .boot { stand(in: .stopped) }
    }

    /// The identity is gone: nothing of it may be used or waited for.
    mutating func forgetIdentity() {
        state.inventory.hasIdentity = false
        state.wantsUp = false
        state.wantsIdentity = false
        state.wantsReprovision = false
        state.wantsFarewell = false
        state.wantsDeprovision = false
        state.candidate = nil
        state.isVerifying = false
        state.rejection = nil
        state.isUnauthorized = false
        state.acceptsOtherIdentity = false
        state.heartbeatProblem = nil
        state.forwardsProblem = nil
        state.failure = nil
        let hold = state.deadlines.hold
        state.deadlines = Deadlines()
        state.deadlines.hold = hold
    }

    private mutating func takeImport(_ difference: ConfigDifference) {
        if state.request?.kind == .provision { state.request?.isAbandoned = true }
        state.inventory.hasIdentity = true
        state.isRevoked = false
        state.isUnauthorized = false
        state.wantsReprovision = false
        state.rejection = nil
        state.attempts = 0
        state.candidateDigest = []
        if difference > .forwards || !state.tunnelIsUp {
            state.candidate = difference
        } else {
            effects.append(.storeCandidate)
        }
        switch state.phase {
        case .provision, .appRetry, .failed: resume()
        case .boot, .stopped, .appInit, .offline, .tunnelUp, .heartbeat, .tunnelRebuild: break
        }
    }
}
