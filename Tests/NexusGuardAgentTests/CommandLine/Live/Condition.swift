// SPDX-License-Identifier: MIT

import FoundationEssentials
import NexusGuard
import NexusGuardAgent

@testable internal import nexusguard

/// What the live view knows of an agent in each condition that a user can meet.
struct Condition: CustomStringConvertible, Sendable {
    /// The moment of all pictures.
    static let now = Date(timeIntervalSince1970: 1_782_464_400)

    /// Its name.
    let description: String
    /// What is known.
    let model: LiveModel
    /// The line of the state.
    let title: String
    /// What the picture says besides at 80 × 24.
    let sentences: [String]
    /// What it says even at 40 × 10, cut where the window ends.
    let short: [String]

    private init(
        _ name: String, _ snapshot: AgentSnapshot, title: String, _ sentences: [String], short: [String],
        change: (inout LiveModel) -> Void = { _ in }
    ) {
        description = name
        self.title = title
        self.sentences = sentences
        self.short = short
        var model = LiveModel()
        model.take(ServerSentEvent(name: "snapshot", data: snapshot.json()), now: Self.now)
        for (number, level) in [LogLevel.debug, .info, .warn, .error].enumerated() {
            model.add(
                ShownLogEntry(
                    number: number + 1, timestamp: Self.now.addingTimeInterval(Double(number) - 60),
                    level: level, tag: "test", message: "entry \(number + 1)"))
        }
        change(&model)
        self.model = model
    }

    /// An agent with an identity.
    static func snapshot(
        _ state: AgentState, _ phase: AgentPhase, reason: (String, String)? = nil, retry: Double? = nil
    ) -> AgentSnapshot {
        var snapshot = AgentSnapshot(state: state, phase: phase)
        snapshot.provisioned = true
        snapshot.wantsUp = phase != .stopped
        snapshot.deviceID = "devi…"
        snapshot.serverURL = "https://control.example.net:8443"
        snapshot.reason = reason.map { HealthItem(code: $0.0, text: $0.1) }
        snapshot.nextRetry = retry.map { now.addingTimeInterval($0) }
        return snapshot
    }

    /// The same with a tunnel.
    static func running(
        _ state: AgentState, health: [(String, String)] = [], handshakeAge: Double = 65
    ) -> AgentSnapshot {
        var snapshot = snapshot(state, .heartbeat)
        snapshot.health = health.map { HealthItem(code: $0.0, text: $0.1) }
        snapshot.lastHeartbeat = now.addingTimeInterval(-7)
        snapshot.tunnel = TunnelInfo(
            interface: "nexusguard0", addresses: ["10.172.21.2/32"], allowedIPs: ["0.0.0.0/0", "::/0"],
            endpoint: "192.0.2.1:51820", lastHandshake: now.addingTimeInterval(-handshakeAge),
            receivedByteCount: 1_258_291, sentByteCount: 512, mtu: 1420)
        return snapshot
    }

    /// All of them.
    static var all: [Condition] {
        let stale = ("handshake-stale", "no handshake with the server for 180 s")
        var stalled = running(.connecting, health: [stale], handshakeAge: 245)
        stalled.reason = HealthItem(code: stale.0, text: stale.1)
        var fresh = snapshot(
            .failed, .failed, reason: ("not-provisioned", "not provisioned: a token is needed"))
        fresh.provisioned = false
        fresh.deviceID = nil
        return [
            Condition(
                "disconnected",
                snapshot(.disconnected, .stopped, reason: ("stopped", "the tunnel is not wanted up")),
                title: "○ Disconnected", ["the tunnel is not wanted up"],
                short: ["'nexusguard up' brings it up."]),
            Condition(
                "connecting", snapshot(.connecting, .tunnelUp),
                title: "● Connecting: waiting for the first handshake", [], short: ["Admin Web"]),
            Condition(
                "provisioning", snapshot(.connecting, .provision),
                title: "● Connecting: asking the server for an identity", [], short: ["Admin Web"]),
            Condition(
                "connected", running(.connected), title: "● Connected",
                ["Endpoint    192.0.2.1:51820", "Traffic     1.2 MiB received, 512 B sent"],
                short: ["IP Address  10.172.21.2", "(1 min 5 s ago)"]),
            Condition(
                "handshake-stale", stalled, title: "● Connecting",
                ["no handshake with the server for 180 s", "'nexusguard netcheck'"],
                short: ["(4 min 5 s ago)", "The other end of the tunnel is silent"]),
            Condition(
                "failed",
                snapshot(
                    .failed, .appRetry, reason: ("handshake-timeout", "no handshake with the server in time"),
                    retry: 95),
                title: "● Failed: waiting before the next try",
                ["no handshake with the server in time", "'nexusguard netcheck'"],
                short: ["trying again in 1 min 35 s"]),
            Condition(
                "offline",
                snapshot(
                    .disconnected, .offline, reason: ("offline", "no route leads out of this host"),
                    retry: 1200),
                title: "○ Disconnected", ["no route leads out of this host"],
                short: ["No network"]),
            Condition(
                "captive-portal",
                snapshot(
                    .connecting, .appRetry,
                    reason: (
                        "captive-portal",
                        "something else answers in place of the server, such as a login page"
                    ),
                    retry: 3),
                title: "● Connecting: waiting before the next try", ["such as a login page"],
                short: ["Log in to this network", "trying again in 3 s"]),
            Condition(
                "clock-skew",
                running(
                    .connected, health: [("clock-skew", "the clock differs by 7200 s from the server's")]),
                title: "● Connected", ["! the clock differs by 7200 s"],
                short: ["Set the clock of this host"]),
            Condition(
                "server-unreachable",
                running(
                    .connected, health: [("heartbeat-failed", "heartbeat failed: connection refused")]),
                title: "● Connected", ["! heartbeat failed: connection refused"],
                short: ["The control server cannot be reached"]),
            Condition(
                "not-provisioned", fresh, title: "● Failed", ["not provisioned: a token is needed"],
                short: ["Set this device up"]),
            Condition(
                "agent-gone", running(.connected), title: "● Agent not reachable: it has not answered since",
                ["connection refused", "What it last told:", "IP Address  10.172.21.2"],
                short: ["It may have been stopped"]
            ) { $0.lose("connection refused", now: now) },
            Condition(
                "agent-back", running(.connected), title: "● Connected", ["IP Address  10.172.21.2"],
                short: ["The agent is back since"]
            ) {
                $0.lose("connection refused", now: now.addingTimeInterval(-5))
                $0.take(ServerSentEvent(name: "snapshot", data: running(.connected).json()), now: now)
            },
        ]
    }
}
