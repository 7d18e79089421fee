// SPDX-License-Identifier: MIT

public import AgentCore
public import AgentStore
internal import FoundationEssentials

extension AgentManager: AgentControl {
    /// The state now.
    public var snapshot: AgentSnapshot { makeSnapshot() }

    /// The state now and each later one; a slow reader gets only the newest.
    public var snapshots: AsyncStream<AgentSnapshot> { subscribe() }

    /// The settings in force.
    public var settings: AgentConfig {
        var settings = effectiveSettings
        settings.isProvisioned = inUse != nil
        return settings
    }

    /// The configuration of the tunnel with its keys; `nil` without an identity.
    public var wireGuardConfig: WireGuardConfig? { inUse }

    /// The identifier of this host in full.
    public var hwid: String {
        get throws(AgentError) {
            guard !hostIdentifier.isEmpty else { throw .secretStore(0) }
            return hostIdentifier
        }
    }

    /// Wants the tunnel up, now and after each start of the host; returns when that is stored.
    ///
    /// A retry that is waited for begins at once.
    public func up() async throws(AgentError) {
        settingsProblem = nil
        dispatch(.up)
        if let settingsProblem { throw settingsProblem }
    }

    /// Wants the tunnel down; returns when it is.
    public func down() async throws(AgentError) {
        settingsProblem = nil
        dispatch(.down)
        try await untilDown()
        if let settingsProblem { throw settingsProblem }
    }

    /// Takes the tunnel down and brings it up again, with what is wanted unchanged in the store.
    ///
    /// - Throws: `AgentError.notProvisioned` without a configuration, or why the tunnel is not up again.
    public func restart() async throws(AgentError) {
        guard inUse != nil else { throw .notProvisioned }
        guard state.wantsUp else { return }
        let starts = state.counters.tunnelStarts
        dispatch(.restart)
        try await wait { state, event in
            if case .tunnelFailed(let error) = event { return .failure(error) }
            let isDone = state.counters.tunnelStarts > starts || !state.wantsUp || state.phase == .offline
            return isDone && state.tunnelWork == nil ? .success(()) : nil
        }.get()
    }

    /// Contacts the control server now.
    ///
    /// - Throws: What the server answered, or why it did not; `AgentError.notProvisioned` without an identity.
    public func refresh() async throws(AgentError) {
        guard inUse != nil, state.inventory.hasServer else { throw .notProvisioned }
        try throwIfHeld()
        dispatch(.refresh)
        try await wait(limit: .seconds(45)) { state, event in
            switch event {
            case .heartbeatAccepted: return .success(())
            case .heartbeatFailed(let failure): return .failure(failure.error)
            default:
                let isUnderWay =
                    state.request != nil || state.wantsHeartbeat || state.wantsFarewell
                    || state.deadlines.heartbeat != nil
                return isUnderWay
                    ? nil : .failure(state.isOnline ? .heartbeatFailed("not now") : .networkOffline)
            }
        }.get()
    }

    /// Asks the control server for an identity.
    ///
    /// - Parameter token: The token; `nil` takes the one that is stored.
    /// - Throws: Why there is no identity; `AgentError.notProvisioned` when no token is stored either.
    public func provision(token: String?) async throws(AgentError) {
        let isRefused = state.isUnauthorized || state.isRevoked
        guard inUse == nil || isRefused else {
            throw .provisioningFailed("this device has an identity; deprovision or reset it first")
        }
        guard state.inventory.hasServer else {
            throw .configInvalid(field: "serverURL", reason: "is not set")
        }
        if let token {
            guard !token.isEmpty, token.utf8.count <= ProvisionRequest.longestToken else {
                throw .configInvalid(
                    field: "token", reason: "does not have 1 to \(ProvisionRequest.longestToken) bytes")
            }
            try parts.secrets.savePendingToken(token)
        } else {
            guard try self.token() != nil else { throw .notProvisioned }
            state.inventory.hasConfiguredToken = configuredToken() != nil
        }
        dispatch(.tokenSupplied(isPending: token != nil))
        try throwIfHeld()
        guard state.isOnline else { throw .networkOffline }
        let isLate: @Sendable (AgentMachine.State) -> Bool = {
            !$0.wantsIdentity && $0.request == nil && !$0.isAdopting
        }
        try await wait { state, event in
            switch event {
            case .identityAdopted: return .success(())
            // A request with an older token may have been on its way.
            case .provisionFailed(let failure): return state.request == nil ? .failure(failure.error) : nil
            default:
                return isLate(state) && state.failure != nil
                    ? .failure(state.failure ?? .notProvisioned) : nil
            }
        }.get()
    }

    /// Tells the control server that this device is gone, takes the tunnel down and forgets the identity.
    ///
    /// - Throws: Why the server was not told; the identity is kept then.
    public func deprovision() async throws(AgentError) {
        guard inUse != nil, state.inventory.hasServer else { throw .notProvisioned }
        try throwIfHeld()
        guard state.isOnline else { throw .networkOffline }
        dispatch(.deprovision)
        try await wait { state, event in
            switch event {
            case .deprovisioned: return .success(())
            case .deprovisionFailed(let failure): return .failure(failure.error)
            default:
                let isUnderWay = state.wantsDeprovision || state.request?.kind == .deprovision
                return isUnderWay ? nil : .failure(.networkOffline)
            }
        }.get()
        try await untilDown()
    }

    /// Takes the tunnel down and forgets identity, tokens and settings, without asking the server.
    public func reset() async throws(AgentError) {
        settingsProblem = nil
        dispatch(.reset)
        let problem = settingsProblem
        try await untilDown()
        if let problem { throw problem }
    }

    /// Checks, stores and applies settings. `wantsUp` and `isProvisioned` of `settings` have no effect.
    ///
    /// The name of the interface counts from the next start of the agent on, which the log says.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field.
    public func update(settings: AgentConfig) async throws(AgentError) {
        let before = effectiveSettings
        var chosen = settings
        chosen.wantsUp = chosenSettings.wantsUp
        chosen.isProvisioned = chosenSettings.isProvisioned
        try SettingsStore.validate(chosen)
        try refuseFixed(&chosen, before)
        try parts.settings.saveConfig(chosen)
        chosenSettings = chosen
        log(.info, "settings", "the settings are stored")
        settingsHaveChanged(from: before)
    }

    /// Takes what the administrator fixed as it is now.
    ///
    /// The name of the interface, the host's identifier and the host key count from the next start of the agent
    /// on, which the log says.
    public func reload(administrator: AdministratorSettings) {
        let before = effectiveSettings
        let former = parts.administrator
        if parts.tokenFile == parts.administrator.tokenFile { parts.tokenFile = administrator.tokenFile }
        parts.administrator = administrator
        log(.info, "settings", "the administrator's settings are read again")
        if administrator.hwid != former.hwid { tellOfNextStart("hwid") }
        if administrator.hostKeyFile != former.hostKeyFile { tellOfNextStart("host_key_file") }
        settingsHaveChanged(from: before)
    }

    private func tellOfNextStart(_ field: String) {
        log(.warn, "settings", "\(field): counts from the next start of the agent on")
    }

    private func settingsHaveChanged(from before: AgentConfig) {
        let after = effectiveSettings
        if after.interfaceName != before.interfaceName { tellOfNextStart("interface") }
        let isOther =
            after.serverURL != before.serverURL
            || after.certificateAuthorityFile != before.certificateAuthorityFile
            || after.allowsPlainHTTP != before.allowsPlainHTTP
            || after.authenticatesHeartbeats != before.authenticatesHeartbeats
            || after.requiresEncryptedHeartbeats != before.requiresEncryptedHeartbeats
        if isOther {
            requestTask?.cancel()
            control.forget()
        }
        dispatch(
            .settingsChanged(
                hasServer: after.serverURL != nil, hasConfiguredToken: configuredToken() != nil,
                isOtherServer: isOther))
    }

    /// Stores a configuration that the user supplies and makes it the tunnel's.
    ///
    /// Without a control server it is used as it is; with one it lasts until the server sends another.
    ///
    /// - Throws: Why the tunnel does not run with it; the former one is then back.
    public func rebuildTunnel(with config: WireGuardConfig) async throws(AgentError) {
        let difference = inUse.map { config.difference(from: $0) } ?? .identity
        offered = config
        if inUse == nil { inUse = config }
        dispatch(.configImported(difference: difference))
        try await wait { state, _ in
            let isDone = state.candidate == nil && state.tunnelWork == nil && !state.isVerifying
            guard isDone else { return nil }
            if let rejection = state.rejection { return .failure(rejection.error) }
            return .success(())
        }.get()
        if let problem = state.storeProblem { throw problem }
    }

    // MARK: Helpers

    private func untilDown() async throws(AgentError) {
        try await wait { state, _ in
            state.tunnelIsUp || state.tunnelWork != nil ? nil : .success(())
        }.get()
    }

    private func throwIfHeld() throws(AgentError) {
        guard let hold = state.deadlines.hold else { return }
        throw .rateLimited(retryAfter: max(hold - parts.clock.now, .zero))
    }

    /// Refuses changes to what the administrator fixed, and keeps that out of the user's choice.
    private func refuseFixed(_ chosen: inout AgentConfig, _ before: AgentConfig) throws(AgentError) {
        func keep<Value: Equatable>(
            _ field: String, _ path: WritableKeyPath<AgentConfig, Value>
        ) throws(AgentError) {
            guard parts.administrator.fixedSettings.contains(field) else { return }
            guard chosen[keyPath: path] == before[keyPath: path] else {
                throw .configInvalid(field: field, reason: "is fixed in the administrator's file")
            }
            chosen[keyPath: path] = chosenSettings[keyPath: path]
        }
        try keep("serverURL", \.serverURL)
        try keep("interfaceName", \.interfaceName)
        try keep("certificateAuthorityFile", \.certificateAuthorityFile)
        try keep("allowsPlainHTTP", \.allowsPlainHTTP)
        try keep("authenticatesHeartbeats", \.authenticatesHeartbeats)
        try keep("requiresEncryptedHeartbeats", \.requiresEncryptedHeartbeats)
        try keep("startsAutomatically", \.startsAutomatically)
        try keep("persistsLog", \.persistsLog)
    }
}
