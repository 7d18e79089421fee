// SPDX-License-Identifier: MIT

internal import AgentCore

extension AgentMachine {
    /// Whether the state is one in which the server is to hear of this device.
    var maySendHeartbeat: Bool {
        guard state.wantsUp, state.inventory.hasIdentity, state.inventory.hasServer, state.isOnline,
            !state.isShuttingDown
        else { return false }
        return switch state.phase {
        case .tunnelUp, .heartbeat, .tunnelRebuild, .appRetry, .failed: true
        case .boot, .stopped, .appInit, .provision, .offline: false
        }
    }

    /// Sends the most urgent request, if one may be sent.
    mutating func settleRequests() {
        let isBlocked = !state.inventory.hasServer || !state.isOnline || state.deadlines.hold != nil
        if isBlocked {
            // Neither is worth more than the moment it was asked for.
            state.wantsFarewell = false
            state.wantsDeprovision = false
        }
        if state.phase == .provision, state.request == nil, !state.hasToken || !state.inventory.hasServer {
            fail(.notProvisioned)
        }
        if state.wantsReprovision, !state.acceptsOtherIdentity, let notBefore = state.provisionNotBefore,
            notBefore > now
        {
            state.wantsReprovision = false
            state.deadlines.reprovision = notBefore
        }
        guard state.request == nil, !state.isShuttingDown, !isBlocked else { return }
        let hasIdentity = state.inventory.hasIdentity
        if state.wantsDeprovision, hasIdentity {
            state.wantsDeprovision = false
            send(.deprovision, .deprovision)
        } else if state.hasToken, !state.isAdopting,
            state.phase == .provision || (state.wantsReprovision && hasIdentity && state.isActive)
        {
            state.wantsReprovision = false
            state.deadlines.reprovision = nil
            state.hasFresherToken = false
            if hasIdentity, !state.acceptsOtherIdentity {
                state.provisionNotBefore = now + jitteredRefusal()
            }
            state.counters.provisionsSent += 1
            send(.provision, .provision(acceptsOther: !hasIdentity || state.acceptsOtherIdentity))
        } else if state.wantsHeartbeat, maySendHeartbeat {
            state.wantsHeartbeat = false
            state.deadlines.heartbeat = nil
            state.counters.heartbeatsSent += 1
            send(.heartbeat, .sendHeartbeat)
        } else if state.wantsFarewell, hasIdentity, !state.wantsUp, !state.tunnelIsUp,
            state.tunnelWork == nil
        {
            state.wantsFarewell = false
            state.counters.heartbeatsSent += 1
            send(.farewell, .sendHeartbeat)
        } else if state.wantsForwards, maySendHeartbeat {
            state.wantsForwards = false
            send(.forwards, .fetchForwards)
        }
    }

    private mutating func send(_ kind: Request.Kind, _ effect: Effect) {
        state.request = Request(kind: kind)
        effects.append(effect)
    }

    /// Sees to it that a heartbeat is due while the server is to hear of this device, and none else.
    mutating func settleHeartbeat() {
        guard maySendHeartbeat else {
            state.deadlines.heartbeat = nil
            state.wantsHeartbeat = false
            state.wantsForwards = false
            return
        }
        // The first contact is not before the tunnel has had its chance.
        guard state.phase != .tunnelUp, state.deadlines.heartbeat == nil, !state.wantsHeartbeat,
            state.request?.kind != .heartbeat
        else { return }
        state.deadlines.heartbeat = now + nextInterval()
    }

    /// The time to the next heartbeat in turn.
    mutating func nextInterval() -> Duration {
        guard state.spreadsNextHeartbeat else {
            return jittered(state.interval, by: Timing.heartbeatJitter)
        }
        // Agents that were woken together, by a power cut or a change to their network, part here: the
        // jitter alone would keep them in step for many intervals.
        state.spreadsNextHeartbeat = false
        return chance(from: state.interval * 0.1, to: state.interval * 1.1)
    }

    /// Wants a heartbeat out of turn; one that comes too soon after others waits a little.
    mutating func promptHeartbeat() {
        guard state.wantsUp, state.inventory.hasIdentity else { return }
        state.spreadsNextHeartbeat = true
        if state.prompts.take(at: now) {
            state.wantsHeartbeat = true
            state.deadlines.heartbeat = nil
        } else if !state.wantsHeartbeat {
            let allowed = state.prompts.nextAllowed(at: now)
            state.deadlines.heartbeat = min(state.deadlines.heartbeat ?? allowed, allowed)
        }
    }

    /// Wants the server's address looked up anew; what comes too often waits a little.
    mutating func refreshTunnel() {
        guard state.tunnelIsUp, state.tunnelWork == nil else { return }
        if state.refreshes.take(at: now) {
            state.deadlines.refresh = nil
            effects.append(.refreshTunnel)
        } else {
            let allowed = state.refreshes.nextAllowed(at: now)
            state.deadlines.refresh = min(state.deadlines.refresh ?? allowed, allowed)
        }
    }

    /// How long refused credentials are not used again.
    mutating func jitteredRefusal() -> Duration {
        chance(from: Timing.refusedCredentials, to: Timing.refusedCredentials * 1.1)
    }

    /// Sends nothing for as long as the server asks; what it asks for beyond reason is cut.
    private mutating func hold(for wish: Duration) {
        let wait = min(max(wish, .seconds(1)), Timing.longestHold)
        // Never sooner than asked, and not all agents in the same moment.
        state.deadlines.hold = now + chance(from: wait, to: wait * 1.1)
    }

    /// Takes the failure of a request of this kind, and what it says about further ones.
    ///
    /// - Returns: `nil` when no such request is in flight or its answer is no longer wanted.
    mutating func finish(_ kinds: Request.Kind..., with failure: Failure) -> Request.Kind? {
        guard let kind = finish(kinds) else { return nil }
        if case .rateLimited(let wish?) = failure.error { hold(for: wish) }
        return kind
    }

    /// Takes the answer to a request of this kind.
    ///
    /// - Returns: `nil` when no such request is in flight or its answer is no longer wanted.
    mutating func finish(_ kinds: Request.Kind...) -> Request.Kind? { finish(kinds) }

    private mutating func finish(_ kinds: [Request.Kind]) -> Request.Kind? {
        guard let request = state.request, kinds.contains(request.kind) else { return nil }
        state.request = nil
        return request.isAbandoned ? nil : request.kind
    }
}
