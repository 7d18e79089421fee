// SPDX-License-Identifier: MIT

import FoundationEssentials
import NexusGuardAgent
import Testing

@testable internal import nexusguard

@Suite("what nexusguard prints")
struct OutputTests {
    private let now = Date(timeIntervalSince1970: 1_782_464_400)

    private var snapshot: AgentSnapshot {
        var snapshot = AgentSnapshot(state: .connected, phase: .heartbeat)
        snapshot.wantsUp = true
        snapshot.provisioned = true
        snapshot.deviceID = "devi…"
        snapshot.serverURL = "https://control.example.net"
        snapshot.forwardCount = 2
        snapshot.lastHeartbeat = now.addingTimeInterval(-7)
        snapshot.tunnel = TunnelInfo(
            interface: "nexusguard0", addresses: ["10.172.21.2/32"], allowedIPs: ["0.0.0.0/0", "::/0"],
            endpoint: "192.0.2.1:51820", lastHandshake: now.addingTimeInterval(-65),
            receivedByteCount: 1_258_291, sentByteCount: 512, mtu: 1420)
        return snapshot
    }

    @Test(
        "spans have their two largest units",
        arguments: [
            (0.0, "0 s"), (12.9, "12 s"), (59, "59 s"), (60, "1 min"), (185, "3 min 5 s"), (3600, "1 h"),
            (7500, "2 h 5 min"), (86_400, "1 d"), (356_400, "4 d 3 h"), (-5, "0 s"),
            (.infinity, "11574074 d 1 h"),
        ])
    func spans(seconds: Double, text: String) {
        #expect(Wording.span(seconds) == text)
    }

    @Test(
        "bytes have a unit that keeps the number short",
        arguments: [
            (UInt64(0), "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_258_291, "1.2 MiB"),
            (1_048_575, "1.0 MiB"), (1 << 30, "1.0 GiB"), (.max, "16.0 EiB"),
        ])
    func bytes(count: UInt64, text: String) {
        #expect(Wording.bytes(count) == text)
    }

    @Test("the status tells state, identity, tunnel and what needs attention")
    func status() {
        var snapshot = snapshot
        snapshot.health = [HealthItem(code: "store-degraded", text: "on tmpfs")]
        #expect(
            StatusText(snapshot, style: .plain, now: now).lines == [
                "* Connected",
                "  The agent cannot store anything. It goes on, but forgets its identity with the next start of the "
                    + "host. Check that the disk is not full and that /var/lib/nexusguard can be written.",
                "  IP Address  10.172.21.2",
                "  Admin Web   https://control.example.net",
                "  Device ID   devi…",
                "  Handshake   \(Wording.timeOfDay(now.addingTimeInterval(-65))) (1 min 5 s ago)",
                "  Allowed IPs 0.0.0.0/0, ::/0",
                "  Transport   HTTPS",
                "  Endpoint    192.0.2.1:51820",
                "  Interface   nexusguard0, MTU 1420",
                "  Heartbeat   7 s ago",
                "  Traffic     1.2 MiB received, 512 B sent",
                "  Forwards    2",
                "  Wanted      up",
                "  Phase       HEARTBEAT",
                "  ! store-degraded: on tmpfs",
            ])
    }

    @Test("why it does not work and when it is tried again stand behind the state")
    func reason() {
        var snapshot = AgentSnapshot(state: .connecting, phase: .appRetry)
        snapshot.reason = HealthItem(code: "tls", text: "TLS: expired")
        snapshot.nextRetry = now.addingTimeInterval(95)
        let headline = StatusText(snapshot, style: .plain, now: now).headline
        #expect(
            headline
                == "* Connecting: waiting before the next try  TLS: expired  (trying again in 1 min 35 s)")
    }

    @Test("those who see less are told so")
    func redacted() {
        let lines = StatusText(snapshot.redacted, style: .plain, now: now).lines
        #expect(lines.contains { $0.hasPrefix("  Note ") })
        #expect(!lines.joined().contains("example.net"))
    }

    @Test("text from outside cannot steer the terminal")
    func escapes() {
        var snapshot = snapshot
        snapshot.serverURL = "https://a\u{1b}[2J.example\r\n\u{202e}"
        snapshot.reason = HealthItem(code: "x", text: "\u{1b}]0;title\u{07}")
        for line in StatusText(snapshot, style: .plain, now: now).lines {
            #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202e}" }, "\(line)")
        }
        let entry = ShownLogEntry(
            number: 1, timestamp: now, level: .info, tag: "a", message: "\u{1b}[31mred\nnew")
        #expect(!entry.line(style: .plain).unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test("each state and each level has its colour, and only where colours are wanted")
    func colours() {
        let colourful = Style(usesColour: true, usesUnicode: true)
        for (state, number) in [
            (AgentState.connected, 32), (.connecting, 33), (.failed, 31), (.disconnected, 2),
        ] {
            #expect(colourful.paint("x", state) == "\u{1b}[\(number)mx\u{1b}[0m")
            #expect(Style.plain.paint("x", state) == "x")
        }
        #expect(colourful.bullet(.connected) == "\u{1b}[32m●\u{1b}[0m")
    }

    @Test(
        "colours are for terminals, NO_COLOR and dumb terminals turn them off, and the option decides",
        arguments: [
            ("auto", true, [:], true), ("auto", false, [:], false), ("auto", true, ["NO_COLOR": "1"], false),
            ("auto", true, ["NO_COLOR": ""], true), ("auto", true, ["TERM": "dumb"], false),
            ("always", false, ["NO_COLOR": "1"], true), ("never", true, [:], false),
        ] as [(String, Bool, [String: String], Bool)])
    func choice(choice: String, isTerminal: Bool, environment: [String: String], expected: Bool) {
        let style = Style(choice: choice, isTerminal: isTerminal) { environment[$0] }
        #expect(style.usesColour == expected)
    }

    @Test("signs beyond ASCII need a locale that has them")
    func locale() {
        func usesUnicode(_ environment: [String: String]) -> Bool {
            Style(choice: "auto", isTerminal: true) { environment[$0] }.usesUnicode
        }
        #expect(usesUnicode(["LANG": "en_GB.UTF-8"]))
        #expect(usesUnicode(["LC_ALL": "C.utf8", "LANG": "C"]))
        #expect(!usesUnicode(["LC_ALL": "C", "LANG": "en_GB.UTF-8"]))
        #expect(!usesUnicode([:]))
    }

    @Test("texts are cut to columns, colours and wide characters counted as a terminal does")
    func cutting() {
        #expect(TextWidth.columns("abc") == 3)
        #expect(TextWidth.columns("\u{1b}[31mabc\u{1b}[0m") == 3)
        #expect(TextWidth.columns("日本") == 4)
        #expect(TextWidth.columns("e\u{301}") == 1)
        #expect(TextWidth.cut("abcdef", to: 6, ellipsis: "…") == "abcdef")
        #expect(TextWidth.cut("abcdef", to: 5, ellipsis: "…") == "abcd…")
        #expect(TextWidth.cut("日本語", to: 4, ellipsis: "~") == "日~")
        #expect(TextWidth.cut("\u{1b}[31mabcdef\u{1b}[0m", to: 4, ellipsis: "…") == "\u{1b}[31mabc\u{1b}[0m…")
        #expect(TextWidth.cut("abc", to: 0, ellipsis: "…") == "")
    }

    @Test("texts are broken at blanks, long words anywhere, and what is too much is cut off")
    func wrapping() {
        #expect(TextWidth.wrap("", to: 10, lines: 3) == [])
        #expect(TextWidth.wrap("one two", to: 10, lines: 3) == ["one two"])
        #expect(TextWidth.wrap("one two three", to: 7, lines: 3) == ["one two", "three"])
        #expect(TextWidth.wrap("abcdefgh ij", to: 3, lines: 9) == ["abc", "def", "gh", "ij"])
        #expect(TextWidth.wrap("a b c d e", to: 3, lines: 2) == ["a b", "c …"])
        #expect(TextWidth.wrap("日本語", to: 4, lines: 2) == ["日本", "語"])
        #expect(TextWidth.wrap("日本語", to: 1, lines: 2) == [])
    }

    @Test("characters that terminals give two columns are counted so, whatever block they are in")
    func wide() {
        for text in ["日", "ア", "한", "Ａ", "🚀", "⌚", "🫠", "🇩"] {
            #expect(TextWidth.columns(text) == 2, "\(text)")
        }
        for text in ["a", "é", "ß", "→", "█", "─", "○", "↓"] {
            #expect(TextWidth.columns(text) == 1, "\(text)")
        }
    }

    @Test("no character carries a pile of marks")
    func piles() {
        #expect(Wording.safe("e\u{301}a") == "e\u{301}a")
        #expect(Wording.safe("a" + String(repeating: "\u{301}", count: 500) + "b") == "?b")
    }
}
