// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import NexusGuardAgent

/// The parts of the live view, line by line.
struct LiveParts {
    private typealias Line = LiveLayout.Line

    private let model: LiveModel
    private let layout: LiveLayout
    private var style: Style { layout.style }
    private var now: Date { layout.now }

    /// The state with what the newest sample of the traffic knows better.
    private let snapshot: AgentSnapshot?

    /// Prepares the parts.
    init(model: LiveModel, layout: LiveLayout) {
        self.model = model
        self.layout = layout
        var snapshot = model.snapshot
        snapshot?.tunnel?.lastHandshake = model.lastHandshake
        if let sample = model.traffic.samples.last, sample.received > 0 || sample.sent > 0 {
            snapshot?.tunnel?.receivedByteCount = sample.received
            snapshot?.tunnel?.sentByteCount = sample.sent
        }
        self.snapshot = snapshot
    }

    /// The name of the programme and the time.
    var heading: LiveLayout.Line {
        let name = "NexusGuard \(snapshot.map { Wording.safe($0.version) } ?? "")"
        let clock = Wording.timeOfDay(now)
        let space = max(1, layout.width - TextWidth.columns(name) - clock.count)
        return Line(
            text: style.paint(name, .bold) + String(repeating: " ", count: space) + style.paint(clock, .dim),
            rank: 4)
    }

    /// How it is, why, and what can be done about it.
    var state: [LiveLayout.Line] {
        switch model.connection {
        case .awaited(nil): return [Line(text: "\(bullet(.dim)) Asking the agent", rank: 0)]
        case .awaited(let reason?): return absent("it does not answer yet", reason)
        case .lost(let since, let reason):
            let time = Wording.timeOfDay(since)
            return absent("it has not answered since \(time)", reason)
                + (showsFacts ? [Line(text: style.paint("What it last told:", .dim), rank: 3)] : [])
        case .open: return present
        }
    }

    private func absent(_ sentence: String, _ reason: String) -> [LiveLayout.Line] {
        let title = "\(bullet(.red)) \(style.paint("Agent not reachable", .red)): \(sentence)"
        return [Line(text: title, rank: 0)] + wrapped(Wording.safe(reason), rank: 2)
            + wrapped(
                """
                It may have been stopped: 'systemctl status nexusguard-agent' tells. This view goes on by itself \
                as soon as the agent is back.
                """, rank: 1)
    }

    private var present: [LiveLayout.Line] {
        var lines: [LiveLayout.Line] = []
        if let since = model.isBack(now: now) {
            let text = "The agent is back since \(Wording.timeOfDay(since))."
            lines.append(Line(text: style.paint(text, .green), rank: 1))
        }
        guard let snapshot else { return [Line(text: "\(bullet(.dim)) Asking the agent", rank: 0)] + lines }
        let text = StatusText(snapshot, style: style, now: now)
        lines.insert(Line(text: text.title, rank: 0), at: 0)
        if let reason = text.reason { lines += wrapped(reason, rank: 1) }
        if let retry = text.retry { lines.append(Line(text: "  " + style.paint(retry, .yellow), rank: 1)) }
        // What is wrong comes before what to do about it.
        let health = snapshot.health.filter { $0 != snapshot.reason }.flatMap { item in
            wrapped("! " + Wording.safe(item.text.isEmpty ? item.code : item.text), rank: 2, .yellow)
        }
        if snapshot.reason == nil { lines += health }
        if let help = text.help {
            lines.append(Line(text: "  " + style.paint(help.title, .bold), rank: 2))
            lines += wrapped(help.text, rank: 4)
        }
        if snapshot.reason != nil { lines += health }
        return lines
    }

    /// What there is to know, a line each.
    var facts: [LiveLayout.Line] {
        guard let snapshot, showsFacts else { return [] }
        let text = StatusText(snapshot, style: isCurrent ? style : faded, now: now)
        let hasPicture = model.traffic.samples.count > 1 && snapshot.tunnel != nil
        return text.rows.filter { row in
            row.label != "Note" && (row.label != "Traffic" || !hasPicture)
                && (row.label != "Forwards" || (snapshot.forwards ?? []).isEmpty)
        }.map { Line(text: text.line($0), rank: $0.rank) }
    }

    /// What those are told who see less.
    var note: [LiveLayout.Line] {
        guard let snapshot,
            let row = StatusText(snapshot, style: style, now: now).rows.first(where: { $0.label == "Note" })
        else { return [] }
        return wrapped(row.value, rank: 6, .dim)
    }

    /// What went through the tunnel in the last ten minutes.
    func picture(tall: Bool) -> [LiveLayout.Line] {
        guard showsFacts, model.traffic.samples.count > 1, let tunnel = snapshot?.tunnel else { return [] }
        let received = curve("Received", \.received, total: tunnel.receivedByteCount, tall: tall)
        let sent = curve("Sent", \.sent, total: tunnel.sentByteCount, tall: tall)
        let isNarrow = layout.columnWidth == layout.width
        let title = Line(
            text: layout.rule("The last 10 minutes", width: layout.columnWidth), rank: isNarrow ? 8 : 3)
        return [title] + received + sent + [Line(text: "", rank: 9)]
    }

    private func curve(
        _ label: String, _ count: KeyPath<TrafficSample, UInt64>, total: UInt64, tall: Bool
    ) -> [LiveLayout.Line] {
        let rate = model.traffic.rate(count, now: now).map { Wording.rate($0) } ?? "-"
        let start = padded("  " + label, to: StatusText.labelWidth + 2, .dim)
        let colour = isCurrent ? Style.Colour.green : .dim
        if tall {
            let parts = model.traffic.rates(count, parts: min(layout.columnWidth - 2, 120), now: now)
            let rows = Sparkline.rows(parts, height: 3, usesUnicode: style.usesUnicode)
            let first = start + padded(rate, to: 12) + Wording.bytes(total) + " in all"
            return [Line(text: first, rank: 3)]
                + rows.map { Line(text: "  " + style.paint($0, colour), rank: 4) }
        }
        let hasTotal = layout.columnWidth >= 60
        let room = layout.columnWidth - StatusText.labelWidth - 2 - 11 - (hasTotal ? 12 : 0)
        let parts = model.traffic.rates(count, parts: min(60, max(0, room)), now: now)
        let bars = Sparkline.text(parts, usesUnicode: style.usesUnicode)
        let end = hasTotal ? "  \(Wording.bytes(total))" : ""
        return [Line(text: start + padded(rate, to: 11) + style.paint(bars, colour) + end, rank: 3)]
    }

    /// The forwarded ports.
    var forwards: [LiveLayout.Line] {
        guard showsFacts, let forwards = snapshot?.forwards, !forwards.isEmpty else { return [] }
        let title = layout.rule("Port Forwards: \(forwards.count)", width: layout.columnWidth)
        return [Line(text: title, rank: 7)]
            + forwards.prefix(12).map { forward in
                let name = forward.transportProtocol.rawValue.uppercased()
                let target = forward.targetAddress
                let host = target.contains(":") ? "[\(target)]" : target
                let arrow = style.usesUnicode ? "→" : "->"
                let place = padded(":\(forward.publicPort)", to: 6)
                return Line(
                    text: "  \(name) \(place) \(arrow) \(Wording.safe(host)):\(forward.targetPort)", rank: 7)
            }
    }

    /// The newest entries of the log, with a heading.
    func log(rows: Int) -> [String] {
        guard rows >= 2 else { return [] }
        return [layout.rule("Log", width: layout.width)]
            + model.log.suffix(rows - 1).map { item in
                switch item {
                case .entry(let entry): entry.line(style: style)
                case .lost(let count): style.paint(Wording.lost(count), .yellow)
                }
            }
    }

    // MARK: Helpers

    /// Whether there is a connection, so that what is shown holds.
    private var isCurrent: Bool {
        if case .open = model.connection { true } else { false }
    }

    /// What holds no longer is shown only where there is plenty of room.
    private var showsFacts: Bool { isCurrent || layout.height >= 14 }

    private var faded: Style { Style(usesColour: false, usesUnicode: style.usesUnicode) }

    private func bullet(_ colour: Style.Colour) -> String {
        style.paint(style.usesUnicode ? "●" : "*", colour)
    }

    private func padded(_ text: String, to width: Int, _ colour: Style.Colour? = nil) -> String {
        let space = String(repeating: " ", count: max(1, width - TextWidth.columns(text)))
        return (colour.map { style.paint(text, $0) } ?? text) + space
    }

    /// A sentence in as many lines as it needs, three at most.
    private func wrapped(_ text: String, rank: Int, _ colour: Style.Colour? = nil) -> [LiveLayout.Line] {
        TextWidth.wrap(text, to: max(1, layout.width - 2), lines: 3, ellipsis: layout.ellipsis).map { part in
            Line(text: "  " + (colour.map { style.paint(part, $0) } ?? part), rank: rank, sentence: text)
        }
    }
}
