// SPDX-License-Identifier: MIT

internal import AgentCore
internal import FoundationEssentials
internal import NexusGuard

extension AgentManager {
    /// Does what the machine decided.
    func perform(_ effect: AgentMachine.Effect) {
        switch effect {
        case .loadConfiguration: loadConfiguration()
        case .startTunnel: startTunnel()
        case .stopTunnel: stopTunnel()
        case .applyCandidate: applyCandidate()
        case .rollBack: rollBack()
        case .provision(let acceptsOther): provision(acceptsOther: acceptsOther)
        case .adoptIdentity: adoptIdentity()
        case .sendHeartbeat: sendHeartbeat()
        case .fetchForwards: fetchForwards()
        case .deprovision: sendDeprovision()
        case .saveIdentity: dispatch(.stored(storeProblem { () throws(AgentError) in try saveIdentity() }))
        case .discardIdentity: received = nil
        case .confirmCandidate: confirm()
        case .storeCandidate: storeCandidate()
        case .discardCandidate: inUse = lastGood
        case .refreshTunnel: refreshTunnel()
        case .erasePendingToken: erasePendingToken()
        case .eraseIdentity: eraseIdentity()
        case .eraseEverything: eraseEverything()
        case .saveWantsUp(let wantsUp): saveWantsUp(wantsUp)
        case .log(let level, let tag, let message): log(level, tag, message)
        }
    }

    // MARK: The tunnel

    private func startTunnel() {
        guard let config = inUse else { return dispatch(.tunnelFailed(.notProvisioned)) }
        handshakes.reset(baseline: nil, now: parts.clock.now)
        Task { [tunnel = parts.tunnel] in
            do throws(AgentError) {
                try await tunnel.startTunnel(config: config)
                dispatch(.tunnelStarted)
            } catch {
                dispatch(.tunnelFailed(error))
            }
        }
    }

    private func stopTunnel() {
        Task { [tunnel = parts.tunnel] in
            await tunnel.stopTunnel()
            dispatch(.tunnelStopped)
        }
    }

    private func applyCandidate() {
        guard let config = offered else {
            return dispatch(.applyFailed(.tunnelInitFailed("there is nothing to apply")))
        }
        offered = nil
        change(to: config) { manager, result in
            switch result {
            case .success(let difference):
                manager.inUse = config
                manager.dispatch(.applied(difference))
            case .failure(let error): manager.dispatch(.applyFailed(error))
            }
        }
    }

    private func rollBack() {
        guard let config = lastGood else {
            return dispatch(.rollBackFailed(.tunnelInitFailed("there is no earlier configuration")))
        }
        // Also where that fails: the next start is with what is known to work.
        inUse = config
        change(to: config) { manager, result in
            switch result {
            case .success: manager.dispatch(.rolledBack)
            case .failure(let error): manager.dispatch(.rollBackFailed(error))
            }
        }
    }

    private func change(
        to config: WireGuardConfig,
        then report: @escaping @Sendable (isolated AgentManager, Result<ConfigDifference, AgentError>) -> Void
    ) {
        let before = parts.tunnel.getLastHandshake()
        Task { [tunnel = parts.tunnel] in
            do throws(AgentError) {
                let difference = try await tunnel.apply(config)
                if difference == .identity {
                    handshakes.reset(baseline: before, now: parts.clock.now)
                }
                report(self, .success(difference))
            } catch {
                report(self, .failure(error))
            }
        }
    }

    /// Looks for the server anew; while that goes on, one more look is kept in mind and no others.
    private func refreshTunnel() {
        guard !isRefreshing else {
            wantsAnotherRefresh = true
            return
        }
        isRefreshing = true
        Task { [tunnel = parts.tunnel] in
            await tunnel.networkChanged()
            isRefreshing = false
            guard wantsAnotherRefresh else { return }
            wantsAnotherRefresh = false
            if state.tunnelIsUp { refreshTunnel() }
        }
    }

    // MARK: Configurations

    /// The configuration that runs is known to work.
    private func confirm() {
        lastGood = inUse
        saveLastGood()
    }

    private func storeCandidate() {
        guard let config = offered else { return }
        offered = nil
        inUse = config
        lastGood = config
        saveLastGood()
    }

    /// Writes the last good configuration.
    func saveLastGood() {
        guard let lastGood else { return }
        let problem = storeProblem { () throws(AgentError) in
            try parts.secrets.saveWireGuardConfig(lastGood)
            try markProvisioned()
        }
        if problem != nil || state.storeProblem != nil { dispatch(.stored(problem)) }
    }
}
