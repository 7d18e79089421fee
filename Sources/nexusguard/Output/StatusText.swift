// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import NexusGuardAgent

/// The state in words for people; the status, its live view and the page show the same.
struct StatusText {
    /// How wide the names of rows are.
    static let labelWidth = 12

    /// One fact with its name.
    struct Row: Equatable {
        /// The name.
        let label: String
        /// The fact, which may come from the server.
        let value: String
        /// How soon it is left out where there is no room; the lowest stay longest.
        let rank: Int
    }

    private let snapshot: AgentSnapshot
    private let style: Style
    private let now: Date

    /// Prepares the words.
    init(_ snapshot: AgentSnapshot, style: Style, now: Date) {
        self.snapshot = snapshot
        self.style = style
        self.now = now
    }

    /// All lines.
    var lines: [String] {
        [headline] + (help.map { ["  " + $0.sentence] } ?? []) + rows.map { line($0) } + health
    }

    /// The state, why it is so, and when it is tried again, in one line.
    var headline: String {
        [title, reason, retry.map { "(\($0))" }].compactMap(\.self).joined(separator: "  ")
    }

    /// The state, with what is under way.
    var title: String {
        let isDone = snapshot.state == .connected
        let doing = isDone ? "" : Self.work(snapshot.phase).map { ": \($0)" } ?? ""
        return
            "\(style.bullet(snapshot.state)) \(style.paint(Self.name(snapshot.state) + doing, snapshot.state))"
    }

    /// Why it is so, where it is not as wanted.
    var reason: String? {
        snapshot.reason.map { Wording.safe($0.text.isEmpty ? $0.code : $0.text) }
    }

    /// When it is tried again by itself.
    var retry: String? {
        snapshot.nextRetry.map { retry in
            let seconds = retry.timeIntervalSince(now).rounded(.up)
            return seconds < 1 ? "trying again now" : "trying again in \(Wording.span(seconds))"
        }
    }

    /// What the user can do.
    var help: Help? { Help(snapshot) }

    /// What there is to know.
    var rows: [Row] {
        let tunnel = snapshot.tunnel
        var rows: [Row] = []
        func add(_ label: String, _ value: String?, rank: Int) {
            if let value, !value.isEmpty { rows.append(Row(label: label, value: value, rank: rank)) }
        }
        add("IP Address", tunnel?.addresses.map(Self.address).joined(separator: ", "), rank: 3)
        add("Admin Web", snapshot.adminURL ?? snapshot.serverURL, rank: 5)
        add("Device ID", snapshot.provisioned ? snapshot.deviceID : "none yet", rank: 5)
        if let tunnel { add("Handshake", handshake(tunnel) ?? "none yet", rank: 3) }
        add("Allowed IPs", tunnel.map { Self.list($0.allowedIPs) }, rank: 5)
        add("Transport", transport, rank: 6)
        if snapshot.adminURL != nil { add("Server", snapshot.serverURL, rank: 6) }
        add("Endpoint", tunnel?.endpoint, rank: 5)
        add("Interface", tunnel.map { "\($0.interface), MTU \($0.mtu)" }, rank: 7)
        add("Heartbeat", snapshot.lastHeartbeat.map(age), rank: 6)
        if snapshot.lastHeartbeat == nil { add("Contact", snapshot.lastContact.map(age), rank: 6) }
        add("Traffic", tunnel.map(traffic), rank: 4)
        add("Forwards", snapshot.forwardCount.map { "\($0)" }, rank: 6)
        add("Wanted", snapshot.wantsUp ? "up" : "down", rank: 8)
        add("Phase", snapshot.phase.rawValue, rank: 8)
        if isRedacted {
            add("Note", "more is shown to root and to members of the group of operators", rank: 4)
        }
        return rows
    }

    /// What needs attention, a line each.
    var health: [String] {
        snapshot.health.map { item in
            let text = item.text.isEmpty ? item.code : "\(item.code): \(item.text)"
            return "  " + style.paint("! \(Wording.safe(text))", .yellow)
        }
    }

    /// A fact in its line.
    func line(_ row: Row) -> String {
        let padded = row.label + String(repeating: " ", count: max(1, Self.labelWidth - row.label.count))
        return "  " + style.paint(padded, .dim) + Wording.safe(row.value)
    }

    /// The name of a state.
    static func name(_ state: AgentState) -> String {
        switch state {
        case .disconnected: "Disconnected"
        case .connecting: "Connecting"
        case .connected: "Connected"
        case .failed: "Failed"
        }
    }

    /// What the agent does in a phase, where the state alone does not say it.
    static func work(_ phase: AgentPhase) -> String? {
        switch phase {
        case .boot: "starting"
        case .appInit: "looking for a stored configuration"
        case .provision: "asking the server for an identity"
        case .appRetry: "waiting before the next try"
        case .tunnelUp: "waiting for the first handshake"
        case .tunnelRebuild: "changing the running tunnel"
        case .stopped, .offline, .heartbeat, .failed: nil
        }
    }

    /// How the control server is asked.
    private var transport: String? {
        guard let url = snapshot.serverURL else { return nil }
        return url.lowercased().hasPrefix("http:") ? "HTTP (not encrypted)" : "HTTPS"
    }

    /// An address without the length of a network that holds it alone.
    private static func address(_ prefix: String) -> String {
        for end in [prefix.contains(":") ? "/128" : "/32"] where prefix.hasSuffix(end) {
            return String(prefix.dropLast(end.count))
        }
        return prefix
    }

    private func handshake(_ tunnel: TunnelInfo) -> String? {
        tunnel.lastHandshake.map { "\(Wording.timeOfDay($0)) (\(age($0)))" }
    }

    private func age(_ date: Date) -> String { Wording.age(date, now: now) }

    private func traffic(_ tunnel: TunnelInfo) -> String {
        "\(Wording.bytes(tunnel.receivedByteCount)) received, \(Wording.bytes(tunnel.sentByteCount)) sent"
    }

    /// The first items of a list and how many more there are.
    private static func list(_ items: [String]) -> String {
        let shown = items.prefix(6).joined(separator: ", ")
        return items.count > 6 ? "\(shown) and \(items.count - 6) more" : shown
    }

    /// Whether the daemon keeps back who and where this device is.
    private var isRedacted: Bool { snapshot.provisioned && snapshot.deviceID == nil }
}
