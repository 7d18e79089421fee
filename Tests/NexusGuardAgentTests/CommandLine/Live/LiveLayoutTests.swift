// SPDX-License-Identifier: MIT

import AgentCore
import FoundationEssentials
import NexusGuard
import NexusGuardAgent
import Testing

@testable internal import nexusguard

@Suite("the picture of the live view")
struct LiveLayoutTests {
    private let colourful = Style(usesColour: true, usesUnicode: true)
    private let colourless = Style(usesColour: false, usesUnicode: true)

    private func picture(
        _ model: LiveModel, _ width: Int, _ height: Int, style: Style, after seconds: Double = 0
    ) -> [String] {
        LiveLayout(
            width: width, height: height, style: style, now: Condition.now.addingTimeInterval(seconds)
        ).lines(of: model)
    }

    /// Ten minutes of 1 kB/s in and then 3 kB/s, and nothing out.
    private func traffic() -> [TrafficSample] {
        (0...120).map { index in
            let bytes = index <= 60 ? 5000 * index : 300_000 + 15_000 * (index - 60)
            return TrafficSample(
                time: Condition.now.addingTimeInterval(Double(index) * 5 - 600), received: UInt64(bytes),
                sent: 7,
                handshakeAge: Double(index % 24) * 5)
        }
    }

    @Test("each condition says what it is, why, and what to do", arguments: Condition.all)
    func conditions(condition: Condition) {
        let lines = picture(condition.model, 80, 24, style: colourless)
        #expect(lines[1].hasPrefix(condition.title), "\(lines.joined(separator: "\n"))")
        for sentence in condition.sentences + condition.short {
            #expect(
                lines.contains { $0.contains(sentence) }, "\(sentence)\n\(lines.joined(separator: "\n"))")
        }
        #expect(lines.contains { $0.hasSuffix("[ERROR] test: entry 4") })
        #expect(lines[23] == "q quits")
        let small = picture(condition.model, 40, 10, style: colourless)
        for sentence in condition.short {
            #expect(
                small.contains { $0.contains(sentence) }, "\(sentence)\n\(small.joined(separator: "\n"))")
        }
        #expect(small.contains { $0.hasSuffix("[ERROR] test: entry 4") })
        #expect(small[9] == "q quits")
    }

    @Test("every condition fits every window from 120 × 40 down to one place", arguments: Condition.all)
    func sizes(condition: Condition) {
        var model = condition.model
        model.traffic.replace(with: traffic())
        for style in [Style.plain, colourful] {
            for width in Array(1...12) + [40, 41, 59, 60, 80, 99, 100, 101, 120, 250] {
                for height in [1, 2, 3, 5, 9, 10, 19, 20, 24, 30, 40] {
                    let lines = picture(model, width, height, style: style)
                    #expect(lines.count == height)
                    for line in lines { #expect(TextWidth.columns(line) <= width, "\(width): \(line)") }
                }
            }
        }
    }

    @Test("the state is the last thing that a small window gives up")
    func smallest() {
        for condition in Condition.all {
            let lines = picture(condition.model, 40, 1, style: colourless)
            #expect(condition.title.hasPrefix(String(lines[0].prefix(12))), "\(condition): \(lines)")
        }
    }

    @Test("states and levels have their colours")
    func colours() {
        for condition in Condition.all {
            let lines = picture(condition.model, 80, 24, style: colourful)
            let number =
                switch condition.description {
                case "disconnected", "offline": "2"
                case "connected", "clock-skew", "server-unreachable", "agent-back": "32"
                case "failed", "not-provisioned", "agent-gone": "31"
                default: "33"
                }
            #expect(lines[1].contains("\u{1b}[\(number)m●") || lines[1].contains("\u{1b}[\(number)m○"))
            #expect(lines.contains { $0.hasPrefix("\u{1b}[33m") && $0.contains("[WARN] test: entry 3") })
            #expect(lines.contains { $0.hasPrefix("\u{1b}[31m") && $0.contains("[ERROR] test: entry 4") })
        }
    }

    @Test("waits count down and ages count up")
    func time() {
        let snapshot = Condition.snapshot(
            .connecting, .appRetry, reason: ("tls", "TLS: expired"), retry: 8)
        var model = LiveModel()
        model.take(ServerSentEvent(name: "snapshot", data: snapshot.json()), now: Condition.now)
        for (seconds, text) in [
            (0.0, "trying again in 8 s"), (0.5, "trying again in 8 s"), (3, "trying again in 5 s"),
            (7.5, "trying again in 1 s"), (8, "trying again now"), (20, "trying again now"),
        ] {
            let lines = picture(model, 80, 24, style: .plain, after: seconds)
            #expect(lines.contains { $0.hasSuffix(text) }, "\(seconds)")
        }
        model.take(
            ServerSentEvent(name: "snapshot", data: Condition.running(.connected).json()), now: Condition.now)
        for (seconds, text) in [(0.0, "(1 min 5 s ago)"), (10, "(1 min 15 s ago)"), (55, "(2 min ago)")] {
            let lines = picture(model, 80, 24, style: .plain, after: seconds)
            #expect(lines.contains { $0.hasPrefix("  Handshake ") && $0.hasSuffix(text) }, "\(seconds)")
        }
    }

    @Test("rates, totals and bars show the traffic, and a handshake between two changes of the state is seen")
    func picture() {
        var model = LiveModel()
        model.take(
            ServerSentEvent(name: "snapshot", data: Condition.running(.connected).json()), now: Condition.now)
        model.traffic.replace(with: traffic())
        let lines = picture(model, 80, 24, style: colourless)
        let received = lines.first { $0.hasPrefix("  Received") } ?? ""
        let sent = lines.first { $0.hasPrefix("  Sent") } ?? ""
        #expect(received.hasPrefix("  Received    3 kB/s     "))
        #expect(received.hasSuffix("  1.1 MiB"))
        #expect(received.filter { $0 == "▃" || $0 == "▄" }.count > 10)
        #expect(received.filter { $0 == "█" }.count > 10)
        #expect(sent.hasPrefix("  Sent        0 B/s      ▁▁▁"))
        // The last sample says 0 s, the state 65 s.
        #expect(lines.contains { $0.hasPrefix("  Handshake ") && $0.hasSuffix("(now)") })
        let plain = picture(model, 80, 24, style: .plain).first { $0.hasPrefix("  Received") } ?? ""
        #expect(plain.contains("####"))
        #expect(plain.utf8.allSatisfy { $0 < 0x80 })
        // Nothing new for a while is no rate.
        let later = picture(model, 80, 24, style: colourless, after: 60)
        #expect(later.contains { $0.hasPrefix("  Received    -  ") })
    }

    @Test("a large window has the facts and the picture side by side, and the log below both")
    func large() throws {
        var snapshot = Condition.running(.connected)
        snapshot.forwards = [
            ForwardSummary(
                PortForward(
                    transportProtocol: .tcp, publicPort: 8080, targetAddress: try IPAddress("10.172.21.2"),
                    targetPort: 80))
        ]
        snapshot.forwardCount = 1
        var model = LiveModel()
        model.take(ServerSentEvent(name: "snapshot", data: snapshot.json()), now: Condition.now)
        model.traffic.replace(with: traffic())
        for number in 1...100 {
            model.add(
                ShownLogEntry(
                    number: number, timestamp: Condition.now, level: .info, tag: "test",
                    message: "entry \(number)"))
        }
        let lines = picture(model, 120, 40, style: colourless)
        #expect(lines.contains { $0.hasPrefix("  IP Address  ") && $0.contains("─ The last 10 minutes ─") })
        #expect(lines.contains { $0.contains("TCP :8080  → 10.172.21.2:80") })
        #expect(lines[38].hasSuffix("[INFO] test: entry 100"))
        // Three rows of bars: the first half reaches one of them, the second all.
        let bars = lines.filter { $0.filter { $0 == "█" }.count > 20 }
        #expect(bars.count == 3)
        let small = picture(model, 80, 24, style: colourless)
        #expect(!small.contains { $0.contains("Forwards    1") })
    }

    @Test("entries that came too fast are counted where they are missing")
    func lost() {
        var model = LiveModel()
        model.take(ServerSentEvent(name: "lost", data: Array(#"{"count":3}"#.utf8)), now: Condition.now)
        #expect(
            picture(model, 80, 24, style: .plain).contains("3 entries are missing: they came too fast"))
    }

    @Test("every error of the agent has a help")
    func help() {
        let errors: [AgentError] = [
            .networkOffline, .provisioningFailed(""), .heartbeatFailed(""), .cryptoDecryptionFailed,
            .configInvalid(field: "", reason: ""), .tunnelInitFailed(""), .secretStore(28),
            .storeUnusable(path: "", reason: ""), .unauthorized, .rateLimited(retryAfter: nil),
            .serverRejected(500), .tls(""), .captivePortal, .clockSkew(.zero), .revoked, .notProvisioned,
            .handshakeTimedOut, .identityMismatch,
        ]
        for code in errors.map(\.code) + [
            HealthCode.handshakeStale, HealthCode.storeDegraded, HealthCode.machineIDChanged,
            HealthCode.offline, HealthCode.rolledBack, HealthCode.stopped,
        ] {
            #expect(Help(code: code) != nil, "\(code)")
        }
        #expect(Help(code: "a-later-version") == nil)
    }

    @Test("the page calls states, phases and troubles what the command calls them")
    func words() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(5)
        let path = root.joined(separator: "/") + "/Sources/NexusGuardAgent/Page/Web/condition.js"
        let page = try String(contentsOfFile: path, encoding: .utf8)
        for state in AgentState.allCases { #expect(page.contains("\"\(StatusText.name(state))\"")) }
        for phase in AgentPhase.allCases {
            guard let work = StatusText.work(phase) else { continue }
            #expect(page.contains("\(phase.rawValue): \"\(work)\""), "\(phase)")
        }
        // A code stands alone or in quotes before what belongs to it.
        var codes = 0
        for line in page.split(separator: "\n")
        where line.hasPrefix("  ") && !line.hasPrefix("   ") && line.hasSuffix(": {") {
            let code = line.dropLast(3).filter { $0 != " " && $0 != "\"" }
            codes += 1
            let title = Help(code: code)?.title ?? "nothing about \(code)"
            #expect(page.contains("title: \"\(title)\""), "\(code): \(title)")
        }
        #expect(codes >= 20)
    }
}
