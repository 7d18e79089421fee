// SPDX-License-Identifier: MIT

import AgentCore
import FoundationEssentials
import NexusGuard
import NexusGuardAgent
import Testing

@Suite("the snapshot of the agent")
struct AgentSnapshotTests {
    static func example() throws -> AgentSnapshot {
        var snapshot = AgentSnapshot(state: .connecting, phase: .appRetry)
        snapshot.reason = HealthItem(code: "tls", text: "TLS: expired")
        snapshot.nextRetry = Date(timeIntervalSince1970: 1_782_464_400)
        snapshot.health = [HealthItem(code: HealthCode.storeDegraded, text: "on tmpfs")]
        snapshot.deviceID = "abcd…"
        snapshot.hwid = "0123…"
        snapshot.serverURL = "https://control.example.net"
        snapshot.tunnel = TunnelInfo(
            interface: "nexusguard0", addresses: ["10.0.0.2/32"], allowedIPs: ["0.0.0.0/0"],
            endpoint: "192.0.2.1:51820", mtu: 1420)
        snapshot.forwards = [
            ForwardSummary(
                PortForward(
                    transportProtocol: .udp, publicPort: 53, targetAddress: try IPAddress("10.0.0.2"),
                    targetPort: 5353))
        ]
        snapshot.forwardCount = 1
        snapshot.counters.failures["tls"] = 3
        return snapshot
    }

    @Test("it is the same after it was written and read")
    func roundTrip() throws {
        let snapshot = try Self.example()
        #expect(try AgentSnapshot(parsing: snapshot.json()) == snapshot)
    }

    @Test("its JSON has the names, states and dates that programs rely on")
    func json() throws {
        let text = String(decoding: try Self.example().json(), as: UTF8.self)
        for part in [
            #""schema":1"#, #""state":"connecting""#, #""phase":"APP_RETRY""#,
            #""nextRetry":"2026-06-26T09:00:00Z""#, #""reason":{"code":"tls","text":"TLS: expired"}"#,
            #""serverURL":"https://control.example.net""#, #""wantsUp":false"#, #""provisioned":false"#,
            #""protocol":"udp","publicPort":53,"targetAddress":"10.0.0.2","targetPort":5353"#,
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        #expect(!text.contains("\n"))
    }

    @Test("another schema and what is no snapshot are refused")
    func refused() throws {
        var other = try Self.example()
        other.schema = 2
        #expect(throws: AgentError.configInvalid(field: "schema", reason: "2 is not known to this version")) {
            try AgentSnapshot(parsing: other.json())
        }
        for text in ["", "{}", "[]", "<html>"] {
            #expect(throws: AgentError.self) { try AgentSnapshot(parsing: Array(text.utf8)) }
        }
    }

    @Test("redacted, it tells how the agent is and nothing of who and where it is")
    func redacted() throws {
        let snapshot = try Self.example()
        let text = String(decoding: snapshot.redacted.json(), as: UTF8.self)
        for secret in ["abcd", "0123", "example.net", "10.0.0.2", "192.0.2.1", "expired"] {
            #expect(!text.contains(secret))
        }
        #expect(snapshot.redacted.state == snapshot.state)
        #expect(snapshot.redacted.reason?.code == "tls")
        #expect(snapshot.redacted.forwardCount == 1)
    }
}
