// SPDX-License-Identifier: MIT

internal import AgentCore

extension AgentMachine {
    mutating func takeHost(_ event: Event) {
        switch event {
        case .booted(let wantsUp, let isOnline):
            guard state.phase == .boot else { return }
            state.wantsUp = state.wantsUp || wantsUp
            state.isOnline = isOnline
            if !state.isActive { stand(in: .stopped) }
            initialize()
        case .loaded(let inventory):
            state.inventory = inventory
            state.isUnreadable = false
            if !state.isUnsaved { state.storeProblem = nil }
            if state.phase == .appInit { resume() }
        case .loadFailed(let error):
            record(Failure(error), tag: "store")
            state.storeProblem = error
            state.isUnreadable = true
            guard state.phase == .appInit else { return }
            fail(error)
            state.attempts += 1
            state.deadlines.retry = now + slowDelay(round: state.attempts)
        case .shutdown:
            state.isShuttingDown = true
            state.wantsFarewell = false
            state.deadlines = Deadlines()
            stand(in: .stopped)
        default: break
        }
    }

    mutating func takeNetwork(_ event: Event) {
        switch event {
        case .online:
            let wasOffline = !state.isOnline || state.phase == .offline
            state.isOnline = true
            guard wasOffline else { return networkChanged() }
            state.heartbeatFailures = 0
            guard state.phase == .offline else { return }
            state.attempts = 0
            resume()
            refreshTunnel()
            promptHeartbeat()
        case .offline:
            state.isOnline = false
            switch state.phase {
            case .provision, .appRetry, .tunnelUp, .heartbeat, .tunnelRebuild: goOffline()
            case .failed where state.failure != .notProvisioned: goOffline()
            case .failed, .boot, .stopped, .appInit, .offline: break
            }
        case .networkChanged: networkChanged()
        default: break
        }
    }

    private mutating func networkChanged() {
        guard state.isOnline else { return }
        switch state.phase {
        case .appRetry:
            // A link that comes and goes must not turn the slow retries into fast ones.
            guard state.prompts.nextAllowed(at: now) <= now else { return }
            if !state.inventory.hasIdentity { _ = state.prompts.take(at: now) }
            state.attempts = 0
            resume()
            refreshTunnel()
            promptHeartbeat()
        case .tunnelUp: refreshTunnel()
        case .heartbeat, .tunnelRebuild, .failed:
            refreshTunnel()
            promptHeartbeat()
        case .boot, .stopped, .appInit, .provision, .offline: break
        }
    }

    /// Does what is due.
    mutating func takeDeadlines() {
        _ = state.deadlines.take(\.hold, at: now)
        _ = state.deadlines.take(\.poll, at: now)
        if state.deadlines.take(\.heartbeat, at: now) { state.wantsHeartbeat = true }
        if state.deadlines.take(\.refresh, at: now), state.isFresh(at: now) { refreshTunnel() }
        if state.deadlines.take(\.reprovision, at: now) {
            let isRefused = state.isUnauthorized || (state.isRevoked && state.acceptsOtherIdentity)
            state.wantsReprovision = isRefused && state.hasToken
        }
        if state.deadlines.take(\.handshake, at: now) { handshakeMissed() }
        if state.deadlines.take(\.retry, at: now) { retry() }
        noteStaleness()
    }

    private mutating func retry() {
        switch state.phase {
        case .offline:
            // Nobody told of a route; the next failure shows whether there is none.
            state.isOnline = true
            resume()
            promptHeartbeat()
        case .failed where !state.inventory.hasIdentity: initialize()
        case .appRetry, .failed:
            resume()
            if state.phase == .tunnelUp { refreshTunnel() }
        case .boot, .stopped, .appInit, .provision, .tunnelUp, .heartbeat, .tunnelRebuild: break
        }
    }
}
