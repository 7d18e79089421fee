// SPDX-License-Identifier: MIT

internal import AgentCore
internal import FoundationEssentials
internal import NexusGuard

extension AgentManager {
    // MARK: An identity

    func provision(acceptsOther: Bool) {
        let expected = acceptsOther ? nil : inUse?.deviceID
        do throws(AgentError) {
            guard let token = try token() else { throw .notProvisioned }
            let settings = try controlSettings()
            request { [provisioning, hwid = hostIdentifier] manager in
                do throws(ServiceFailure) {
                    let settings = await manager.located(settings)
                    let identity = try await provisioning.provision(
                        token: token, hwid: hwid, expecting: expected, settings)
                    await manager.take(identity, from: settings)
                } catch {
                    await manager.fail(error) { .provisionFailed($0) }
                }
            }
        } catch {
            dispatch(.provisionFailed(ServiceFailure(error)))
        }
    }

    private func take(_ identity: ProvisioningService.Identity, from settings: ControlSettings) {
        lastContact = parts.clock.date
        remember(identity.serverAddress, of: settings)
        received = identity
        dispatch(.provisionAnswered)
    }

    // MARK: Heartbeats

    /// Who this device is to the server.
    private var identity: HeartbeatService.Identity? {
        inUse.map { HeartbeatService.Identity(deviceID: $0.deviceID, key: key) }
    }

    func sendHeartbeat() {
        do throws(AgentError) {
            guard let identity else { throw .notProvisioned }
            let settings = try controlSettings()
            let status = state.shown
            request { [heartbeat, tunnel = parts.tunnel] manager in
                do throws(ServiceFailure) {
                    let settings = await manager.located(settings)
                    let news = try await heartbeat.sendHeartbeat(
                        identity, status: status, tunnelUp: tunnel.isTunnelUp(),
                        lastHandshake: tunnel.getLastHandshake(), settings)
                    await manager.take(news, from: settings)
                } catch {
                    await manager.fail(error) { .heartbeatFailed($0) }
                }
            }
        } catch {
            dispatch(.heartbeatFailed(ServiceFailure(error)))
        }
    }

    private func take(_ news: HeartbeatService.News, from settings: ControlSettings) {
        lastContact = parts.clock.date
        guard state.request?.isAbandoned == false, let current = inUse else {
            return dispatch(.heartbeatAccepted(AgentMachine.News()))
        }
        lastHeartbeat = lastContact
        remember(news.serverAddress, of: settings)
        var config = news.config
        if config.forwards == nil, config.forwardsHash == current.forwardsHash {
            config.forwards = current.forwards
        }
        let difference = config.difference(from: current)
        if difference > .forwards {
            offered = config
        } else {
            takeInformation(config, insteadOf: current)
        }
        let needsForwards =
            config.forwards == nil && config.forwardsHash != nil
            && config.forwardsHash != untoldForwards
        dispatch(
            .heartbeatAccepted(
                AgentMachine.News(
                    difference: difference, digest: difference > .forwards ? config.tunnelDigest : [],
                    nextInterval: news.nextInterval, needsForwards: needsForwards,
                    clockSkew: news.clockSkew)))
    }

    /// Takes over what does not concern the tunnel.
    private func takeInformation(_ config: WireGuardConfig, insteadOf current: WireGuardConfig) {
        guard
            config.forwardsHash != current.forwardsHash || config.adminURL != current.adminURL
                || config.configHash != current.configHash || config.forwards != current.forwards
        else { return }
        inUse = config
        // A configuration that has yet to prove itself is stored when it has.
        guard !state.isVerifying, state.tunnelWork == nil else { return }
        lastGood = config
        saveLastGood()
    }

    // MARK: Forwards

    func fetchForwards() {
        do throws(AgentError) {
            guard let identity, let hash = inUse?.forwardsHash else { throw .notProvisioned }
            let settings = try controlSettings()
            request { [heartbeat] manager in
                do throws(ServiceFailure) {
                    let settings = await manager.located(settings)
                    // Nothing is known, so that nothing can be unchanged.
                    let forwards = try await heartbeat.fetchForwards(identity, known: nil, settings)
                    await manager.take(forwards, asOf: hash)
                } catch {
                    await manager.fail(error) { .forwardsFailed($0) }
                }
            }
        } catch {
            dispatch(.forwardsFailed(ServiceFailure(error)))
        }
    }

    private func take(_ forwards: HeartbeatService.Forwards, asOf hash: String) {
        lastContact = parts.clock.date
        switch forwards {
        case .changed(let forwards, _):
            // A digest that has changed meanwhile is in the next heartbeat, and is asked for then.
            if var config = inUse, config.forwardsHash == hash {
                config.forwards = forwards
                if let current = inUse { takeInformation(config, insteadOf: current) }
            }
        case .unchanged, .unavailable: untoldForwards = hash
        }
        dispatch(.forwardsFetched)
    }

    // MARK: The end

    func sendDeprovision() {
        do throws(AgentError) {
            guard let identity else { throw .notProvisioned }
            let settings = try controlSettings()
            request { [heartbeat] manager in
                do throws(ServiceFailure) {
                    let settings = await manager.located(settings)
                    try await heartbeat.deprovision(identity, settings)
                    await manager.dispatch(.deprovisioned)
                } catch {
                    await manager.fail(error) { .deprovisionFailed($0) }
                }
            }
        } catch {
            dispatch(.deprovisionFailed(ServiceFailure(error)))
        }
    }

    // MARK: The server's addresses

    private func request(_ body: @escaping @Sendable (AgentManager) async -> Void) {
        requestTask = Task { [weak self] in
            guard let self else { return }
            await body(self)
        }
    }

    private func fail(
        _ failure: ServiceFailure, _ event: (AgentMachine.Failure) -> AgentMachine.Event
    ) {
        switch failure.error {
        case .heartbeatFailed, .provisioningFailed, .tls, .networkOffline: control.forget()
        default: lastContact = parts.clock.date
        }
        dispatch(event(failure))
        // Whoever tried although there is no route now knows better.
        if failure.error == .networkOffline, parts.network?.isOnline == false { dispatch(.offline) }
    }

    private func controlSettings() throws(AgentError) -> ControlSettings {
        try ControlSettings(effectiveSettings, socketMark: parts.socketMark)
    }

    /// The settings with the addresses of the server: what the name servers say, and behind it those at
    /// which the server last answered.
    private func located(_ settings: ControlSettings) async -> ControlSettings {
        guard settings.needsResolving, let lookup = parts.lookup else {
            if let address = try? IPAddress(settings.host) { watch([address]) }
            return settings
        }
        var settings = settings
        defer { watch(settings.addresses) }
        if let fresh = control.fresh(settings.host, now: parts.clock.now) {
            settings.addresses = fresh
            return settings
        }
        if control.stored.host != settings.host {
            let stored = (try? parts.secrets.loadControlAddresses(host: settings.host)) ?? []
            control.stored = (settings.host, stored)
        }
        let found = await lookup.addresses(of: settings.host)
        let stored = control.stored.host == settings.host ? control.stored.addresses : []
        settings.addresses = found + stored.filter { !found.contains($0) }
        if !found.isEmpty { control.note(settings.addresses, of: settings.host, now: parts.clock.now) }
        return settings
    }

    /// Has the host count as online while the control server, or the tunnel's, has a route.
    ///
    /// A server of the tunnel that is named by a name may be anywhere: any network does then.
    private func watch(_ control: [IPAddress]) {
        guard !control.isEmpty else { return }
        var destinations = control
        if let inUse {
            if case .address(let address, _) = inUse.endpoint.host {
                destinations.append(address)
            } else {
                destinations = []
            }
        }
        parts.network?.setDestinations(destinations)
    }

    /// Keeps the address at which the server answered, for a day on which its name cannot be resolved.
    private func remember(_ text: String?, of settings: ControlSettings) {
        guard settings.needsResolving, let text, let address = try? IPAddress(text) else { return }
        let former = control.stored.host == settings.host ? control.stored.addresses : []
        guard former.first != address else { return }
        let addresses = Array(([address] + former.filter { $0 != address }).prefix(8))
        control.stored = (settings.host, addresses)
        let problem = storeProblem { () throws(AgentError) in
            try parts.secrets.saveControlAddresses(addresses, host: settings.host)
        }
        if let problem { log(.debug, "store", "the server's address is not stored: \(problem)") }
    }
}
