// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Testing

/// What a full tunnel keeps off the cable while it is up; what holds while it is down is the kill switch's.
@Suite("Nothing beside the tunnel", .enabled(if: Machine.isReady, Machine.skipReason))
struct NoLeakTests {
    @Test("no packet leaves beside the tunnel while keys, forwards, endpoint and settings change")
    func changes() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab, ["--allowed-ips", "0.0.0.0/0"])
            let agent = try await site.connectedAgent()
            try await agent.waitForHeartbeat()
            #expect(try await agent.namespace.ping(Site.far4))
            let outside = try await Capture(lab, in: agent.namespace, on: "uplink", "icmp")
            let stream = try lab.spawn(
                in: agent.namespace, "ping", "-n", "-i", "0.02", "-W", "1", Site.far4)

            try await site.control.command("rotate-keys", agent.name)
            try await agent.waitFor("the new keys are in use") { $0.counters.rebuilds == 1 }
            try await site.control.command("forward", "add", agent.name, "tcp", "8080", "80")
            try await agent.waitFor("the forward is known") { $0.forwardCount == 1 }
            agent.child?.signal(SIGHUP)
            try await agent.command("refresh")
            try await site.control.stop()
            try await site.namespace.ip("address add 192.0.2.200/32 dev lo")
            try await site.control.start(
                endpoint: "192.0.2.200:41194", ["--allowed-ips", "0.0.0.0/0"])
            try await agent.waitFor("the endpoint is the new one") {
                $0.tunnel?.endpoint == "192.0.2.200:41194" && $0.state == "connected"
            }
            #expect(try await agent.namespace.ping(Site.far4))
            #expect(try await agent.status().counters.tunnelStarts == 1)

            stream.signal(SIGINT)
            let output = try await stream.wait(atMost: Shell.patience)
            #expect(output.standardOutput.contains("bytes from \(Site.far4)"), "nothing was sent")
            let leaks = try await outside.stop().filter(\.isEcho)
            #expect(leaks.isEmpty, "\(leaks.count) packets")
        }
    }

    @Test("starts after SIGKILL find nothing in their way, and from then on nothing leaves beside the tunnel")
    func kills() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab, ["--allowed-ips", "0.0.0.0/0"])
            let agent = try await site.connectedAgent()
            for _ in 1...3 {
                try await agent.kill()
                try await agent.start()
                try await agent.waitUntilConnected()
                let outside = try await Capture(lab, in: agent.namespace, on: "uplink", "icmp")
                #expect(try await agent.namespace.answers(to: 20, from: Site.far4) == 20)
                try await agent.command("restart", "--timeout", "250")
                try await agent.waitUntilConnected()
                #expect(try await agent.namespace.answers(to: 20, from: Site.far4) == 20)
                let leaks = try await outside.stop().filter(\.isEcho)
                #expect(leaks.isEmpty, "\(leaks.count) packets")
            }
            let complaints = agent.log.lowercased().split(separator: "\n").filter {
                $0.contains("exists") || $0.contains("[error]")
            }
            #expect(complaints.isEmpty, "\(complaints)")
        }
    }
}

extension CapturedPacket {
    /// Whether it is an echo request or its answer, of ICMP.
    fileprivate var isEcho: Bool {
        guard version == 4, protocolNumber == 1 else { return false }
        let start = Int(bytes[0] & 0x0f) * 4
        return bytes.count > start && [0, 8].contains(bytes[start])
    }
}
