// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Testing

@Suite("A control server behind the tunnel", .enabled(if: Machine.isReady, Machine.skipReason))
struct InsideTests {
    @Test(
        "after a power cut the tunnel is up from the store, and contact is made through it",
        arguments: ["10.172.21.0/24", "0.0.0.0/0"])
    func start(allowedIPs: String) async throws {
        try await Lab.with { lab in
            let inner = "\(Site.inner):\(ControlServer.port)"
            let site = try await Site(lab, ["--listen", inner, "--allowed-ips", allowedIPs])
            let agent = try await site.connectedAgent()
            try await agent.waitForHeartbeat()
            try await agent.kill()
            // The kernel ends the connections of the dead agent, which the capture is not to see.
            try await Shell.eventually("the server has no connection left") {
                try await site.namespace.check("ss", "-Htan", "sport = :\(ControlServer.port)").lines
                    .allSatisfy { $0.hasPrefix("LISTEN") || $0.hasPrefix("TIME-WAIT") }
            }
            // From now on the server answers nobody outside of the tunnel, and the agent looks for it inside.
            try await site.blockControl(#"iifname "port*""#)
            try agent.setSettings([
                "server_url = https://\(inner)", "ca_file = \(site.control.authorityFile)",
                "hwid = \(site.hwid(1))",
            ])
            let outside = try await Capture(lab, in: agent.namespace, on: "uplink", "tcp")
            let taken = try await agent.launchUntilTunnelCarries()
            print("a server inside of \(allowedIPs): from the start to the first answer \(taken)")
            let status = try await agent.waitFor("there is contact") {
                $0.counters.heartbeatsAccepted > 0 && $0.state == "connected" && $0.health.isEmpty
            }
            #expect(status.counters.provisionsAccepted == 0)
            #expect(status.counters.failures.isEmpty)
            // New keys come through the tunnel that they are for.
            try await site.control.command("rotate-keys", agent.name)
            try await agent.waitFor("the new keys are in use") { $0.counters.rebuilds == 1 }
            try await agent.waitForHeartbeat()
            #expect(try await agent.namespace.ping(Site.inner))
            let packets = try await outside.stop()
            #expect(!packets.contains { $0.hasPort(ControlServer.port) }, "the server was looked for outside")
            #expect(try await site.control.devices().count == 1)
        }
    }
}
