// SPDX-License-Identifier: MIT

package import AgentCore

extension AgentMachine.State {
    /// What people are shown of the phase.
    package var shown: AgentState {
        switch phase {
        case .boot, .stopped, .offline: .disconnected
        case .appInit, .provision, .tunnelUp: .connecting
        case .appRetry: attempts > AgentMachine.Timing.fastRetries.count ? .failed : .connecting
        case .heartbeat: isStale ? .connecting : .connected
        case .tunnelRebuild: lastHandshake == nil || isVerifying ? .connecting : .connected
        case .failed: .failed
        }
    }

    /// Why the state is not as wanted.
    package var reason: HealthItem? {
        switch phase {
        case .boot, .appInit, .provision, .tunnelUp, .tunnelRebuild: nil
        case .stopped:
            failure.map(HealthItem.init)
                ?? HealthItem(code: HealthCode.stopped, text: "the tunnel is not wanted up")
        case .offline: HealthItem(code: HealthCode.offline, text: "no route leads out of this host")
        case .appRetry, .failed: failure.map(HealthItem.init)
        case .heartbeat: isStale ? handshakeStale : nil
        }
    }

    /// What needs attention though the agent goes on; each code at most once.
    package var health: [HealthItem] {
        var items: [HealthItem] = []
        func add(_ item: HealthItem) {
            if !items.contains(where: { $0.code == item.code }) { items.append(item) }
        }
        if let heartbeatProblem { add(HealthItem(heartbeatProblem)) }
        if isStale { add(handshakeStale) }
        if let rejection {
            add(
                HealthItem(
                    code: HealthCode.rolledBack,
                    text: "a configuration of the server was taken back: \(rejection.error)"))
        }
        if let clockSkew { add(HealthItem(.clockSkew(clockSkew))) }
        if let storeProblem { add(HealthItem(storeProblem)) }
        if let forwardsProblem { add(HealthItem(forwardsProblem)) }
        return items
    }

    /// When the next try begins by itself, where one is waited for.
    package var nextRetry: Duration? {
        switch phase {
        case .boot, .stopped, .appInit, .tunnelUp, .heartbeat, .tunnelRebuild: nil
        case .provision: request == nil ? deadlines.hold : nil
        case .appRetry, .offline: deadlines.retry
        case .failed: deadlines.retry ?? deadlines.heartbeat
        }
    }

    private var handshakeStale: HealthItem {
        HealthItem(code: HealthCode.handshakeStale, text: "no handshake with the server for 180 s")
    }
}

extension HealthItem {
    /// The item that stands for an error.
    package init(_ error: AgentError) {
        self.init(code: error.code, text: error.description)
    }
}
