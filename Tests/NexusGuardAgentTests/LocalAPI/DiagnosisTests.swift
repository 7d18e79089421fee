// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import AgentStore
import FoundationEssentials
import NexusGuard
import Testing

@testable internal import NexusGuardAgent

@Suite("diagnosis")
struct DiagnosisTests {
    /// A control server that answers as the test says.
    private struct Answer: HTTPTransport {
        var response: Result<HTTPResponse, HTTPError>

        func send(
            _ request: HTTPRequest, options: HTTPClientOptions
        ) async throws(HTTPError) -> HTTPResponse {
            guard request.url == "https://control.example.net/healthz", request.method == "GET" else {
                throw .invalidURL
            }
            return try response.get()
        }
    }

    private func check(
        _ response: Result<HTTPResponse, HTTPError>,
        change: @Sendable (inout AgentSnapshot) -> Void = { _ in }
    ) async throws -> NetCheckReport {
        let agent = try FakeAgent()
        await agent.show(change)
        var options = LocalAPI.Options()
        options.transport = Answer(response: response)
        return await NetCheck(LocalAPI(control: agent, log: LogStore(), options: options)).run()
    }

    @Test(
        "what answers in the server's place is told from the server",
        arguments: [
            (HTTPResponse(status: 204), NetCheckResult.Outcome.ok),
            (HTTPResponse(status: 302, headers: [("Location", "http://login.example")]), .fail),
            (HTTPResponse(status: 200, headers: [("content-type", "text/HTML")]), .fail),
            (HTTPResponse(status: 511), .fail), (HTTPResponse(status: 503), .warn),
            (HTTPResponse(status: 404), .fail),
        ])
    func server(response: HTTPResponse, outcome: NetCheckResult.Outcome) async throws {
        let report = try await check(.success(response))
        #expect(report.results.first { $0.name == "server" }?.outcome == outcome)
        #expect(report.results.first { $0.name == "clock" } == nil)
    }

    @Test("why the server cannot be reached is told")
    func unreachable() async throws {
        let report = try await check(.failure(.tls("the certificate has expired")))
        let result = report.results.first { $0.name == "server" }
        #expect(result?.outcome == .fail)
        #expect(result?.text.contains("the certificate has expired") == true)
        #expect(!report.isGood)
        #expect(
            String(decoding: report.document, as: UTF8.self).hasPrefix(#"{"schema":1,"ok":false,"checks":[{"#)
        )
    }

    @Test("the clock is compared with the server's")
    func clock() async throws {
        for (date, outcome) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", NetCheckResult.Outcome.fail),
            (httpDate(Date().addingTimeInterval(-60)), .warn), (httpDate(Date()), .ok),
        ] {
            let report = try await check(.success(HTTPResponse(status: 204, headers: [("Date", date)])))
            #expect(report.results.first { $0.name == "clock" }?.outcome == outcome, "\(date)")
        }
    }

    /// The date in the form of HTTP, by way of RFC 3339 alone.
    private func httpDate(_ date: Date) -> String {
        let text = Array(RFC3339.text(date))
        let months = "JanFebMarAprMayJunJulAugSepOctNovDec"
        let month = (Int(String(text[5...6])) ?? 1) - 1
        let name = months.dropFirst(month * 3).prefix(3)
        return "Mon, \(String(text[8...9])) \(name) \(String(text[0...3])) \(String(text[11...18])) GMT"
    }

    @Test("an old handshake fails, a recent one does not, and without a tunnel there is none to check")
    func handshake() async throws {
        func outcome(_ age: Double?) async throws -> NetCheckResult.Outcome? {
            let report = try await check(.success(HTTPResponse(status: 204))) { snapshot in
                guard let age else { return }
                snapshot.tunnel = TunnelInfo(
                    interface: "nexusguard0", addresses: [], allowedIPs: [], endpoint: "127.0.0.1:51820",
                    lastHandshake: Date().addingTimeInterval(-age), mtu: 1420)
            }
            return report.results.first { $0.name == "handshake" }?.outcome
        }
        #expect(try await outcome(nil) == .skipped)
        #expect(try await outcome(10) == .ok)
        #expect(try await outcome(200) == .fail)
    }

    @Test("the way to an address is asked of the kernel: loopback has a route and the largest MTU")
    func path() throws {
        let loopback = try IPAddress("127.0.0.1")
        #expect(PathProbe.source(to: loopback, port: 9, mark: nil) == loopback)
        // The length of an IPv4 packet has 16 bits.
        #expect(PathProbe.mtu(to: loopback, port: 9, mark: nil) == 65_535)
    }

    @Test("names are resolved, and those that have no address are told")
    func names() async throws {
        let local = await NameLookup.addresses(of: "localhost", within: .seconds(600))
        #expect(local?.contains(try IPAddress("127.0.0.1")) == true)
        // Too long for a name of DNS (RFC 1035, section 2.3.4), so no resolver is asked that may not answer.
        let name = String(repeating: "a", count: 64)
        #expect(await NameLookup.addresses(of: name, within: .seconds(600)) == [])
    }

    @Test("the scrubber takes out what is known and what looks like a key, and leaves the rest")
    func scrubber() throws {
        let scrubber = Scrubber(config: try FakeAgent.config(), hwid: FakeAgent.hardware)
        let key = try PrivateKey(hexadecimal: FakeAgent.privateKey)
        #expect(scrubber.scrub("device \(FakeAgent.deviceID) up") == "device devi… up")
        #expect(scrubber.scrub("host \(FakeAgent.hardware).") == "host 0123….")
        for text in [
            FakeAgent.privateKey, key.base64, FakeAgent.presharedKey.uppercased(), key.publicKey.base64,
        ] {
            let scrubbed = scrubber.scrub("a=\(text)b")
            #expect(!scrubbed.contains(text.prefix(16)), "\(scrubbed)")
        }
        let harmless =
            "heartbeat: 10.172.21.2/32 over [2001:db8::1]:51820 at 2026-06-26T09:00:00Z, serverRejected"
        #expect(scrubber.scrub(harmless) == harmless)
    }

    @Test("metrics are lines of the text format and hold no identifier")
    func metrics() async throws {
        var snapshot = await (try FakeAgent()).snapshot
        snapshot.state = .connected
        snapshot.tunnel = TunnelInfo(
            interface: "nexusguard0", addresses: ["10.172.21.2/32"], allowedIPs: ["0.0.0.0/0"],
            endpoint: "192.0.2.1:51820", lastHandshake: Date(timeIntervalSince1970: 1_782_464_400),
            receivedByteCount: 12, sentByteCount: 34, mtu: 1420)
        snapshot.counters.failures = ["tls": 2, "captive-portal": 1]
        let text = Metrics.text(snapshot)
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            #expect(
                line.firstMatch(of: #/^nexusguard_[a-z_]+(\{[a-z]+="[A-Za-z0-9_.-]+"\})? [0-9]+$/#) != nil,
                "\(line)")
        }
        #expect(text.contains("\nnexusguard_state{state=\"connected\"} 1\n"))
        #expect(text.contains("\nnexusguard_state{state=\"failed\"} 0\n"))
        #expect(text.contains("\nnexusguard_tunnel_received_bytes_total 12\n"))
        #expect(text.contains("\nnexusguard_tunnel_last_handshake_timestamp_seconds 1782464400\n"))
        #expect(text.contains("\nnexusguard_failures_total{code=\"captive-portal\"} 1\n"))
        for secret in ["10.172", "192.0.2", "example", "devi", "nexusguard0"] {
            #expect(!text.contains(secret))
        }
    }
}
