// SPDX-License-Identifier: MIT

internal import AgentCore

extension AgentMachine {
    /// Goes to the phase that what is wanted and what is there ask for.
    mutating func resume() {
        state.deadlines.retry = nil
        guard state.isActive, !state.isShuttingDown else { return stand(in: .stopped) }
        guard state.isOnline else { return goOffline() }
        // While nothing proves it, a device that is said to be revoked still brings its tunnel up.
        if state.isRevoked, !state.inventory.hasIdentity || (state.tunnelIsUp && !state.wantsReprovision) {
            return fail(.revoked)
        }
        guard state.inventory.hasIdentity else { return resumeProvisioning() }
        state.wantsIdentity = state.wantsIdentity && state.wantsReprovision
        guard state.wantsUp else { return stand(in: .stopped) }
        resumeTunnel()
    }

    private mutating func resumeProvisioning() {
        // Unreadable is not empty: asking for an identity then would make a second one.
        guard !state.isUnreadable else { return initialize() }
        guard state.hasToken, state.inventory.hasServer else { return fail(.notProvisioned) }
        if let notBefore = state.provisionNotBefore, notBefore > now {
            fail(state.failure ?? .unauthorized)
            state.deadlines.retry = notBefore
            return
        }
        state.phase = .provision
    }

    private mutating func resumeTunnel() {
        if state.isVerifying, state.tunnelWork == nil {
            state.phase = .tunnelRebuild
            state.deadlines.handshake = now + Timing.firstHandshake
        } else if state.tunnelWork == nil, state.isFresh(at: now) || (state.tunnelIsUp && state.isQuiet) {
            enterHeartbeat()
        } else {
            state.phase = .tunnelUp
            if state.tunnelIsUp { state.deadlines.handshake = now + Timing.firstHandshake }
        }
    }

    /// The tunnel works: what is left is to tell the server so at intervals.
    mutating func enterHeartbeat() {
        state.phase = .heartbeat
        state.attempts = 0
        state.failure = nil
        state.isStale = false
        state.deadlines.handshake = nil
        state.deadlines.retry = nil
        state.deadlines.refresh = nil
    }

    /// Loads what is stored, then goes on from there.
    mutating func initialize() {
        if state.isActive { state.phase = .appInit }
        state.deadlines.retry = nil
        effects.append(.loadConfiguration)
    }

    /// Waits in a phase where nothing is tried.
    mutating func stand(in phase: AgentPhase) {
        state.phase = phase
        state.deadlines.retry = nil
        state.deadlines.handshake = nil
        state.deadlines.refresh = nil
        if phase == .stopped {
            state.attempts = 0
            state.deadlines.reprovision = nil
        }
    }

    /// Waits for a route, and looks by itself once in a while in case that none was told of.
    mutating func goOffline() {
        stand(in: .offline)
        state.deadlines.retry = now + slowDelay(round: 3)
    }

    /// Stands still because of something that trying again soon does not change.
    mutating func fail(_ error: AgentError) {
        stand(in: .failed)
        state.failure = error
    }

    /// A try failed: the next comes in a moment, and after a few of them in a while.
    mutating func retryLater(_ failure: Failure, tag: String) {
        record(failure, tag: tag)
        state.attempts += 1
        state.failure = failure.error
        state.deadlines.handshake = nil
        let isSlow = state.attempts > Timing.fastRetries.count
        if isSlow, !state.wantsUp {
            // Nobody waits for the tunnel: whoever asked for an identity is told that there is none.
            state.wantsIdentity = false
            return stand(in: .stopped)
        }
        if isSlow, failure.error == .networkOffline { return goOffline() }
        state.phase = .appRetry
        state.deadlines.retry = now + retryDelay(afterFailures: state.attempts)
    }

    /// Starts what the state asks for and the rules allow, and sets the deadlines that follow from it.
    mutating func settle() {
        settleTunnel()
        settleRequests()
        settleHeartbeat()
        settlePoll()
    }

    private mutating func settleTunnel() {
        guard state.tunnelWork == nil else { return }
        let isWanted = state.wantsUp && state.inventory.hasIdentity && !state.isShuttingDown
        guard isWanted else {
            state.wantsRestart = false
            if state.tunnelIsUp { begin(.stopping, .stopTunnel) }
            if state.candidate != nil, !state.tunnelIsUp { storeCandidate() }
            return
        }
        if state.wantsRestart { settleRestart() }
        guard state.tunnelWork == nil else { return }
        if state.candidate != nil, !state.tunnelIsUp { storeCandidate() }
        switch state.phase {
        case .tunnelUp where !state.tunnelIsUp: begin(.starting, .startTunnel)
        case .tunnelUp, .heartbeat, .appRetry, .failed:
            guard state.candidate != nil, state.tunnelIsUp, !state.isVerifying else { return }
            state.candidate = nil
            state.phase = .tunnelRebuild
            state.deadlines.retry = nil
            state.deadlines.handshake = nil
            begin(.applying, .applyCandidate)
        case .boot, .stopped, .appInit, .provision, .offline, .tunnelRebuild: break
        }
    }

    private mutating func settleRestart() {
        state.wantsRestart = false
        guard state.tunnelIsUp else { return }
        if [.heartbeat, .appRetry, .tunnelRebuild, .failed].contains(state.phase) {
            state.phase = .tunnelUp
            state.deadlines.retry = nil
        }
        state.deadlines.handshake = nil
        begin(.stopping, .stopTunnel)
    }

    private mutating func begin(_ work: TunnelWork, _ effect: Effect) {
        state.tunnelWork = work
        effects.append(effect)
    }

    private mutating func storeCandidate() {
        state.candidate = nil
        effects.append(.storeCandidate)
        guard state.phase == .appRetry, state.inventory.hasIdentity else { return }
        // What could not be brought up may be what has just been replaced.
        state.attempts = 0
        resume()
    }

    private mutating func settlePoll() {
        guard state.tunnelIsUp, state.tunnelWork == nil else {
            state.deadlines.poll = nil
            return
        }
        let wanted: Duration
        switch state.phase {
        case .tunnelUp, .tunnelRebuild: wanted = now + Timing.verificationPoll
        case .heartbeat where !state.isStale:
            // Nothing changes by itself before the last handshake is too old.
            let due = (state.lastHandshake ?? now) + Timing.staleAfter
            if due > now || !state.isQuiet {
                state.deadlines.poll = max(now, due) + .milliseconds(1)
                return
            }
            wanted = now + Timing.quietPoll
        case .heartbeat, .appRetry, .failed: wanted = now + Timing.idlePoll
        case .boot, .stopped, .appInit, .provision, .offline:
            state.deadlines.poll = nil
            return
        }
        if state.deadlines.poll.map({ $0 > wanted }) ?? true { state.deadlines.poll = wanted }
    }
}
