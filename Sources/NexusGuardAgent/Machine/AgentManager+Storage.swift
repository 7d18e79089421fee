// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentStore
internal import FoundationEssentials

extension AgentManager {
    /// The settings in force: the administrator's, where there are any, in place of the user's.
    var effectiveSettings: AgentConfig { parts.administrator.applied(to: chosenSettings) }

    /// What is stored and set, as far as it is known without reading a file again.
    func inventory(hasPendingToken: Bool) -> AgentMachine.Inventory {
        AgentMachine.Inventory(
            hasIdentity: inUse != nil, hasPendingToken: hasPendingToken,
            hasConfiguredToken: configuredToken() != nil, hasServer: effectiveSettings.serverURL != nil)
    }

    func loadConfiguration() {
        do throws(AgentError) {
            // What is in use and could not be written is not lost because of that.
            if inUse == nil {
                key = try parts.secrets.loadProvisioningKey()
                lastGood = try parts.secrets.loadWireGuardConfig()
                inUse = lastGood
            }
            let hasPendingToken = try parts.secrets.loadPendingToken() != nil
            dispatch(.loaded(inventory(hasPendingToken: hasPendingToken)))
        } catch {
            dispatch(.loadFailed(error))
        }
    }

    /// Uses the identity that came.
    ///
    /// It is written before the token is forgotten: whatever stops the agent in between, the token that is
    /// still there brings the same identity.
    func adoptIdentity() {
        guard let identity = received else { return }
        received = nil
        let difference = inUse.map { identity.config.difference(from: $0) } ?? .identity
        let isOther = inUse.map { $0.deviceID != identity.config.deviceID } ?? true
        key = identity.key
        if isOther { lastGood = identity.config }
        if inUse == nil {
            inUse = identity.config
        } else {
            offered = identity.config
        }
        log(.info, "provision", "this device is \(DeviceIDMask.mask(identity.config.deviceID))")
        let problem = storeProblem { () throws(AgentError) in
            try saveIdentity()
            try parts.secrets.clearPendingToken()
        }
        dispatch(.identityAdopted(difference: difference, problem: problem))
    }

    /// Writes the identity in use.
    func saveIdentity() throws(AgentError) {
        if let key { try parts.secrets.saveProvisioningKey(key) }
        if let lastGood { try parts.secrets.saveWireGuardConfig(lastGood) }
        try markProvisioned()
    }

    func markProvisioned() throws(AgentError) {
        guard !chosenSettings.isProvisioned else { return }
        chosenSettings.isProvisioned = true
        try parts.settings.saveConfig(chosenSettings)
    }

    func erasePendingToken() {
        let problem = storeProblem { () throws(AgentError) in try parts.secrets.clearPendingToken() }
        if let problem { log(.warn, "store", "the used token is still stored: \(problem)") }
    }

    func eraseIdentity() {
        forgetIdentity()
        settingsProblem = storeProblem { () throws(AgentError) in
            try parts.secrets.clearAll()
            chosenSettings.isProvisioned = false
            try parts.settings.saveConfig(chosenSettings)
        }
        logSettingsProblem()
    }

    func eraseEverything() {
        requestTask?.cancel()
        forgetIdentity()
        chosenSettings = AgentConfig()
        settingsProblem = storeProblem { () throws(AgentError) in
            try parts.secrets.clearAll()
            try parts.settings.clear()
        }
        logSettingsProblem()
        dispatch(.loaded(inventory(hasPendingToken: false)))
    }

    private func forgetIdentity() {
        inUse = nil
        lastGood = nil
        offered = nil
        received = nil
        key = nil
        untoldForwards = nil
    }

    func saveWantsUp(_ wantsUp: Bool) {
        chosenSettings.wantsUp = wantsUp
        settingsProblem = storeProblem { () throws(AgentError) in
            try parts.settings.saveConfig(chosenSettings)
        }
        logSettingsProblem()
    }

    private func logSettingsProblem() {
        guard let settingsProblem else { return }
        log(.error, "store", "\(settingsProblem) [\(settingsProblem.code)]")
    }

    /// What goes wrong in a use of the stores.
    func storeProblem(_ body: () throws(AgentError) -> Void) -> AgentError? {
        do throws(AgentError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    // MARK: Tokens

    /// The token that is to be used: the user's, else the administrator's.
    func token() throws(AgentError) -> String? {
        try parts.secrets.loadPendingToken() ?? configuredToken()
    }

    /// The token in the administrator's file.
    func configuredToken() -> String? {
        guard let path = parts.tokenFile else { return nil }
        do throws(AgentError) {
            return try TokenFile.read(path)
        } catch {
            log(.warn, "provision", "\(error)")
            return nil
        }
    }
}
