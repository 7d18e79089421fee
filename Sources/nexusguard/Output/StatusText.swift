// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import NexusGuardAgent

/// The state in lines for people; the status and its live view show the same.
struct StatusText {
    /// How wide the names of rows are.
    static let labelWidth = 12

    private let snapshot: AgentSnapshot
    private let style: Style
    private let now: Date

    /// Prepares the lines.
    init(_ snapshot: AgentSnapshot, style: Style, now: Date) {
        self.snapshot = snapshot
        self.style = style
        self.now = now
    }

    /// All lines.
    var lines: [String] { [headline] + rows + health }

    /// The state, and why it is so.
    var headline: String {
        let state = style.paint(snapshot.state.rawValue, snapshot.state)
        var text = "\(style.bullet(snapshot.state)) \(state)"
        if let reason = snapshot.reason {
            text += "  \(Wording.safe(reason.text.isEmpty ? reason.code : reason.text))"
        }
        if let retry = snapshot.nextRetry {
            let seconds = retry.timeIntervalSince(now)
            text += seconds < 1 ? "  (trying again now)" : "  (trying again in \(Wording.span(seconds)))"
        }
        return text
    }

    /// What there is to know, each row with its name.
    var rows: [String] {
        var rows: [(String, String)] = [("Phase", snapshot.phase.rawValue)]
        rows.append(("Wanted", snapshot.wantsUp ? "up" : "down"))
        if !snapshot.provisioned { rows.append(("Identity", "none yet (nexusguard provision)")) }
        if let deviceID = snapshot.deviceID { rows.append(("Device", deviceID)) }
        if let serverURL = snapshot.serverURL { rows.append(("Server", serverURL)) }
        if let adminURL = snapshot.adminURL { rows.append(("Admin", adminURL)) }
        if let tunnel = snapshot.tunnel { rows += self.rows(of: tunnel) }
        if let count = snapshot.forwardCount { rows.append(("Forwards", "\(count)")) }
        if let last = snapshot.lastHeartbeat { rows.append(("Heartbeat", Wording.age(last, now: now))) }
        if snapshot.lastHeartbeat == nil, let last = snapshot.lastContact {
            rows.append(("Contact", Wording.age(last, now: now)))
        }
        if isRedacted {
            rows.append(("Note", "more is shown to root and to members of the group of operators"))
        }
        return rows.map { row($0.0, $0.1) }
    }

    /// What needs attention, a line each.
    var health: [String] {
        snapshot.health.map { item in
            let text = item.text.isEmpty ? item.code : "\(item.code): \(item.text)"
            return "  " + style.paint("! \(Wording.safe(text))", .yellow)
        }
    }

    private func rows(of tunnel: TunnelInfo) -> [(String, String)] {
        var rows = [("Interface", "\(tunnel.interface), MTU \(tunnel.mtu)")]
        if !tunnel.addresses.isEmpty { rows.append(("Address", tunnel.addresses.joined(separator: ", "))) }
        if let endpoint = tunnel.endpoint { rows.append(("Endpoint", endpoint)) }
        if !tunnel.allowedIPs.isEmpty { rows.append(("Routes", Self.list(tunnel.allowedIPs))) }
        rows.append(("Handshake", tunnel.lastHandshake.map { Wording.age($0, now: now) } ?? "none yet"))
        let (received, sent) = (Wording.bytes(tunnel.receivedByteCount), Wording.bytes(tunnel.sentByteCount))
        rows.append(("Traffic", "\(received) received, \(sent) sent"))
        return rows
    }

    /// The first items of a list and how many more there are.
    private static func list(_ items: [String]) -> String {
        let shown = items.prefix(6).joined(separator: ", ")
        return items.count > 6 ? "\(shown) and \(items.count - 6) more" : shown
    }

    private func row(_ label: String, _ value: String) -> String {
        let padded = label + String(repeating: " ", count: max(1, Self.labelWidth - label.count))
        return "  " + style.paint(padded, .dim) + Wording.safe(value)
    }

    /// Whether the daemon keeps back who and where this device is.
    private var isRedacted: Bool { snapshot.provisioned && snapshot.deviceID == nil }
}
