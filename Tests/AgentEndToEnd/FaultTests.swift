// SPDX-License-Identifier: MIT

internal import Foundation
internal import Harness
internal import Testing

@Suite("Answers that are none", .enabled(if: Machine.isReady, Machine.skipReason))
struct FaultTests {
    /// What the server does, and the code under which the agent counts it.
    private static let heartbeatFaults = [
        ("status=500", "server-rejected"), ("status=503", "server-rejected"), ("drop", "heartbeat-failed"),
        ("drop-after", "heartbeat-failed"), ("garbage", "config-invalid"), ("truncate", "heartbeat-failed"),
        ("wrong-tag", "decryption-failed"), ("wrong-key", "decryption-failed"), ("html", "captive-portal"),
        ("redirect=https://192.0.2.1:8443/elsewhere", "server-rejected"),
        ("oversize=100000", "heartbeat-failed"),
        ("other-device", "identity-mismatch"), ("bad-field=endpoint", "config-invalid"),
        ("bad-field=private_key", "config-invalid"), ("retry-after=1", "rate-limited"),
        ("delay=11s", "heartbeat-failed"),
    ]

    @Test("each fault of heartbeats is counted, logged and shown, and changes neither tunnel nor store")
    func heartbeats() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.connectedAgent()
            #expect(try await agent.namespace.ping(Site.inner))
            let start = try await agent.waitForHeartbeat()
            let stored = try store(agent)
            let config = try await agent.command("config", "show").standardOutput
            // The files are read and written by now; what faults do to them shows.
            for (fault, code) in Self.heartbeatFaults {
                let before = try await agent.status()
                try site.control.setFaults("\(fault)@heartbeat")
                // Each look at the server begins the fast retries anew.
                _ = try await agent.run("refresh")
                let after = try await agent.waitFor("'\(fault)' is counted as \(code)") {
                    $0.failures(code) > before.failures(code) && $0.codes.contains(code)
                }
                #expect(after.state == "connected", "\(fault)")
                #expect(after.phase == "HEARTBEAT", "\(fault)")
                #expect(after.counters.rebuilds == start.counters.rebuilds, "\(fault)")
                #expect(after.counters.tunnelStarts == 1, "\(fault)")
                #expect(try await agent.namespace.ping(Site.inner), "\(fault)")
                #expect(try store(agent) == stored, "\(fault)")
                #expect(try await agent.command("config", "show").standardOutput == config, "\(fault)")
                let shown = try await agent.command("--color", "never", "status").standardOutput
                #expect(shown.contains(code), "\(fault): \(shown)")
            }
            try await untrusted(site, agent, stored)

            try site.control.setFaults()
            _ = try await agent.run("refresh")
            try await agent.waitFor("all is well again") { $0.health.isEmpty }
            // Failures that repeat are logged once in a while, with their codes.
            let log = try await agent.command("logs", "--level", "warn").standardOutput
            for code in Set(Self.heartbeatFaults.map(\.1)) {
                let count = log.components(separatedBy: "[\(code)]").count - 1
                #expect(count == 1, "\(code) is logged \(count) times")
            }
        }
    }

    /// A server whose certificate no known authority signed.
    private func untrusted(_ site: Site, _ agent: Agent, _ stored: [String: Data]) async throws {
        try site.control.setFaults()
        let trusted = try String(contentsOfFile: site.control.authorityFile, encoding: .utf8)
        let stranger = ControlServer(site.lab, in: try await site.lab.namespace(), name: "stranger")
        try await stranger.startAlone()
        try await stranger.stop()
        let foreign = try String(contentsOfFile: stranger.authorityFile, encoding: .utf8)
        #expect(foreign != trusted)
        try site.lab.file(site.control.authorityName, foreign)
        _ = try await agent.run("refresh")
        let status = try await agent.waitFor("the certificate is refused") {
            $0.failures("tls") > 0 && $0.codes.contains("tls")
        }
        #expect(status.state == "connected")
        #expect(try await agent.namespace.ping(Site.inner))
        #expect(try store(agent) == stored)
        try site.lab.file(site.control.authorityName, trusted)
    }

    @Test("each fault while an identity is asked for is shown, and leads to one identity in the end")
    func provisioning() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.agent()
            try await agent.start()
            let token = try await site.control.token(name: agent.name)
            let faults = [
                ("drop", "provisioning-failed"), ("drop-after", "provisioning-failed"),
                ("truncate", "provisioning-failed"), ("garbage", "config-invalid"),
                ("wrong-tag", "decryption-failed"), ("html", "captive-portal"),
                ("status=503", "server-rejected"),
            ]
            for (fault, code) in faults {
                try site.control.setFaults("\(fault)@provision")
                let output = try await agent.run("--json", "provision", "--token-file", token.path)
                #expect(!output.succeeded, "\(fault)")
                let status = try await agent.waitFor("'\(fault)' is counted as \(code)") {
                    $0.failures(code) > 0
                }
                #expect(!status.provisioned, "\(fault)")
                #expect(status.tunnel == nil, "\(fault)")
            }
            try site.control.setFaults()
            try await agent.command("provision", "--token-file", token.path)
            try await agent.command("up", "--timeout", "250")
            #expect(try await agent.namespace.ping(Site.inner))
            #expect(try await site.control.devices().count == 1)
        }
    }

    /// The files of the tunnel and of the keys, byte by byte.
    private func store(_ agent: Agent) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: agent.stateDirectory)
        where name.hasPrefix("tunnel") || name.hasPrefix("key") || name.hasPrefix("hwid") {
            files[name] = FileManager.default.contents(atPath: "\(agent.stateDirectory)/\(name)")
        }
        guard files["tunnel.json"] != nil else { throw ShellError.neverTrue("the tunnel is stored") }
        return files
    }
}
