// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentStore
internal import FoundationEssentials

extension AgentManager {
    /// All that the agent shows of itself, now.
    func makeSnapshot() -> AgentSnapshot {
        let settings = effectiveSettings
        var snapshot = AgentSnapshot(state: state.shown, phase: state.phase)
        snapshot.reason = state.reason
        snapshot.nextRetry = state.nextRetry.map { retry in
            parts.clock.date.addingTimeInterval(Self.seconds(retry - parts.clock.now))
        }
        snapshot.health = state.health
        for item in parts.directory.health { snapshot.add(HealthItem(code: item.code, text: item.text)) }
        if let settingsProblem { snapshot.add(HealthItem(settingsProblem)) }
        snapshot.wantsUp = state.wantsUp
        snapshot.provisioned = inUse != nil
        snapshot.deviceID = inUse.map { DeviceIDMask.mask($0.deviceID) }
        snapshot.hwid = hostIdentifier.isEmpty ? nil : DeviceIDMask.mask(hostIdentifier)
        snapshot.serverURL = settings.serverURL
        snapshot.adminURL = inUse?.adminURL
        snapshot.tunnel = state.tunnelIsUp ? parts.tunnel.info() : nil
        snapshot.forwards = inUse?.forwards?.map { ForwardSummary($0) }
        snapshot.forwardCount = inUse?.forwards?.count
        snapshot.lastHeartbeat = lastHeartbeat
        snapshot.lastContact = lastContact
        snapshot.counters = state.counters
        snapshot.startedAt = startedAt
        return snapshot
    }

    private static func seconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}

extension AgentSnapshot {
    /// Adds an item unless there is one with its code.
    mutating func add(_ item: HealthItem) {
        guard !health.contains(where: { $0.code == item.code }) else { return }
        health.append(item)
    }
}
