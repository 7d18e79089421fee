// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import NexusGuardAgent

/// What the live view shows, and how it is laid out; knows nothing of terminals.
struct LiveModel: Sendable {
    /// How many entries of the log are kept for a large terminal.
    private static let longestLog = 500

    /// The last state that was seen.
    var snapshot: AgentSnapshot?
    /// The newest entries of the log.
    private(set) var entries: [ShownLogEntry] = []
    /// Why there is no connection; `nil` while there is one.
    var trouble: String?

    /// Takes an event of the daemon.
    mutating func take(_ event: ServerSentEvent) {
        trouble = nil
        switch event.name {
        case "snapshot":
            if let snapshot = try? AgentSnapshot(parsing: event.data) { self.snapshot = snapshot }
        case "log":
            guard let fields = try? JSONFields(parsing: event.data), let entry = try? ShownLogEntry(fields)
            else { return }
            add(entry)
        default: break
        }
    }

    /// Adds an entry of the log.
    mutating func add(_ entry: ShownLogEntry) {
        entries.append(entry)
        if entries.count > Self.longestLog { entries.removeFirst(entries.count - Self.longestLog) }
    }

    /// The lines of a screen: exactly `height` of at most `width` columns.
    ///
    /// The state comes first; the newest entries of the log have what is left.
    func lines(width: Int, height: Int, style: Style, now: Date) -> [String] {
        guard width > 0, height > 0 else { return [] }
        let ellipsis = style.usesUnicode ? "…" : "~"
        var top = [heading(width: width, style: style, now: now)]
        if let trouble { top.append(style.paint(Wording.safe(trouble), .red)) }
        if let snapshot { top += StatusText(snapshot, style: style, now: now).lines }
        let footer = style.paint("q quits", .dim)
        let room = height - 1
        var result = Array(top.prefix(room))
        let rest = room - result.count
        if rest >= 3, !entries.isEmpty {
            result.append(rule("Log", width: width, style: style))
            result += entries.suffix(rest - 1).map { $0.line(style: style) }
        }
        result += [String](repeating: "", count: max(0, room - result.count))
        result.append(footer)
        return result.suffix(height).map { TextWidth.cut($0, to: width, ellipsis: ellipsis) }
    }

    private func heading(width: Int, style: Style, now: Date) -> String {
        let name = "NexusGuard \(snapshot.map { Wording.safe($0.version) } ?? "")"
        let clock = Wording.timeOfDay(now)
        let space = max(1, width - TextWidth.columns(name) - clock.count)
        return style.paint(name, .bold) + String(repeating: " ", count: space) + style.paint(clock, .dim)
    }

    private func rule(_ title: String, width: Int, style: Style) -> String {
        let line = style.usesUnicode ? "─" : "-"
        let count = max(0, width - title.count - 4)
        return style.paint("\(line)\(line) \(title) \(String(repeating: line, count: count))", .dim)
    }
}
