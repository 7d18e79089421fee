// SPDX-License-Identifier: MIT

internal import AgentCore
internal import FoundationEssentials

/// The state as Prometheus reads it (text format 0.0.4), without any identifier of device, host or server.
enum Metrics {
    /// The whole text.
    static func text(_ snapshot: AgentSnapshot) -> String {
        var lines: [String] = []
        func add(_ name: String, _ type: String, _ help: String, _ samples: [(labels: String, value: String)])
        {
            guard !samples.isEmpty else { return }
            lines.append("# HELP nexusguard_\(name) \(help)")
            lines.append("# TYPE nexusguard_\(name) \(type)")
            lines += samples.map { "nexusguard_\(name)\($0.labels) \($0.value)" }
        }
        func one(_ value: some CustomStringConvertible) -> [(labels: String, value: String)] {
            [("", value.description)]
        }
        func flag(_ value: Bool) -> [(labels: String, value: String)] { one(value ? 1 : 0) }

        add("info", "gauge", "The version of the agent.", [(#"{version="\#(snapshot.version)"}"#, "1")])
        add(
            "state", "gauge", "1 for the state that is shown.",
            AgentState.allCases.map { (#"{state="\#($0.rawValue)"}"#, $0 == snapshot.state ? "1" : "0") })
        add(
            "phase", "gauge", "1 for the phase of the state machine.",
            AgentPhase.allCases.map { (#"{phase="\#($0.rawValue)"}"#, $0 == snapshot.phase ? "1" : "0") })
        add("wants_up", "gauge", "Whether the tunnel is wanted up.", flag(snapshot.wantsUp))
        add("provisioned", "gauge", "Whether there is an identity.", flag(snapshot.provisioned))
        add("tunnel_up", "gauge", "Whether the tunnel exists.", flag(snapshot.tunnel != nil))
        add(
            "health", "gauge", "1 for each thing that needs attention.",
            snapshot.health.map { (#"{code="\#($0.code)"}"#, "1") })
        if let tunnel = snapshot.tunnel {
            add(
                "tunnel_received_bytes_total", "counter", "Bytes received through the tunnel.",
                one(tunnel.receivedByteCount))
            add(
                "tunnel_sent_bytes_total", "counter", "Bytes sent through the tunnel.",
                one(tunnel.sentByteCount))
            add("tunnel_mtu_bytes", "gauge", "The MTU of the interface.", one(tunnel.mtu))
            add(
                "tunnel_last_handshake_timestamp_seconds", "gauge", "When the last handshake completed.",
                tunnel.lastHandshake.map { one(seconds($0)) } ?? [])
        }
        add(
            "last_heartbeat_timestamp_seconds", "gauge", "When the server last accepted a heartbeat.",
            snapshot.lastHeartbeat.map { one(seconds($0)) } ?? [])
        add(
            "start_timestamp_seconds", "gauge", "When the agent started.",
            snapshot.startedAt.map { one(seconds($0)) } ?? [])
        add("forwards", "gauge", "Forwarded ports.", snapshot.forwardCount.map { one($0) } ?? [])
        let counters = snapshot.counters
        for (name, help, value) in [
            ("heartbeats_sent", "Heartbeats sent.", counters.heartbeatsSent),
            ("heartbeats_accepted", "Heartbeats that the server accepted.", counters.heartbeatsAccepted),
            ("provisions_sent", "Requests for an identity.", counters.provisionsSent),
            ("provisions_accepted", "Identities received.", counters.provisionsAccepted),
            ("tunnel_starts", "Times the tunnel was brought up.", counters.tunnelStarts),
            ("rebuilds", "Changes applied to the running tunnel.", counters.rebuilds),
            ("rollbacks", "Changes taken back.", counters.rollbacks),
            ("malformed_answers", "Answers that could not be used.", counters.malformedAnswers),
        ] {
            add("\(name)_total", "counter", help, one(value))
        }
        add(
            "failures_total", "counter", "Failures by code.",
            counters.failures.sorted { $0.key < $1.key }.map { (#"{code="\#($0.key)"}"#, "\($0.value)") })
        return lines.joined(separator: "\n") + "\n"
    }

    private static func seconds(_ date: Date) -> Int { Int(date.timeIntervalSince1970) }
}
