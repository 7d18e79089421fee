// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import FoundationEssentials
import Testing

@testable import NexusGuardAgent

@Suite("what answers of the server mean")
struct AnswerClassTests {
    static let now = Date(timeIntervalSince1970: 1_782_464_400)

    /// What a heartbeat that is answered so comes to.
    static func heartbeat(
        _ transport: ScriptedTransport, isOnline: Bool = true
    ) async throws -> ServiceFailure? {
        let service = HeartbeatService(
            connection: ControlConnection(transport: transport, isOnline: { isOnline }, clock: { now }))
        let settings = try DeviceSample.settings()
        do throws(ServiceFailure) {
            _ = try await service.sendHeartbeat(
                DeviceSample.identity, status: .connected, tunnelUp: true, lastHandshake: now, settings)
            return nil
        } catch {
            return error
        }
    }

    static func answered(
        _ status: Int, _ body: String = "", _ headers: [(name: String, value: String)] = []
    ) async throws -> ServiceFailure? {
        try await heartbeat(ScriptedTransport(status: status, Array(body.utf8), headers: headers))
    }

    @Test(
        "each status has its meaning",
        arguments: [
            (401, AgentError.unauthorized), (403, .unauthorized), (404, .revoked), (410, .revoked),
            (429, .rateLimited(retryAfter: nil)), (503, .serverRejected(503)), (500, .serverRejected(500)),
            (502, .serverRejected(502)), (400, .serverRejected(400)), (409, .serverRejected(409)),
            (204, .serverRejected(204)), (511, .captivePortal),
        ])
    func status(status: Int, error: AgentError) async throws {
        let failure = try await Self.answered(status, #"{"error":{"code":"x"}}"#)
        #expect(failure?.error == error)
        #expect(failure?.isProven == false)
    }

    @Test("a redirect is not followed and counts as malformed", arguments: [301, 302, 307, 308])
    func redirect(status: Int) async throws {
        let transport = ScriptedTransport(
            status: status, headers: [(name: "Location", value: "https://other.example.net/")])
        let failure = try await Self.heartbeat(transport)
        #expect(failure == ServiceFailure(.serverRejected(status), isMalformed: true))
        #expect(transport.requests.count == 1)
    }

    @Test(
        "a page where JSON belongs is somebody else's, whatever its status",
        arguments: [200, 401, 403, 404, 410])
    func page(status: Int) async throws {
        let byType = try await Self.answered(
            status, "Please log in", [(name: "content-type", value: "text/html; charset=utf-8")])
        let byContent = try await Self.answered(status, "\r\n <!DOCTYPE html><html></html>")
        #expect(byType == ServiceFailure(.captivePortal, isMalformed: true))
        #expect(byContent == ServiceFailure(.captivePortal, isMalformed: true))
    }

    @Test(
        "Retry-After is taken as seconds and as a date, and nonsense as nothing",
        arguments: [
            ("120", Duration.seconds(120)), ("Fri, 26 Jun 2026 09:02:00 GMT", .seconds(120)),
            ("31536000", .seconds(3_600)), ("-5", nil), ("soon", nil), ("", nil),
        ])
    func retryAfter(value: String, delay: Duration?) async throws {
        let failure = try await Self.answered(429, "", [(name: "Retry-After", value: value)])
        #expect(failure?.error == .rateLimited(retryAfter: delay))
    }

    @Test("503 with Retry-After asks to wait as well")
    func unavailable() async throws {
        let failure = try await Self.answered(503, "", [(name: "retry-after", value: "7")])
        #expect(failure?.error == .rateLimited(retryAfter: .seconds(7)))
    }

    @Test("credentials that are refused while the clock is more than 300 s off are a matter of the clock")
    func clock() async throws {
        let date = "Fri, 26 Jun 2026 08:54:00 GMT"
        let far = try await Self.answered(401, "{}", [(name: "Date", value: date)])
        #expect(far?.error == .clockSkew(.seconds(-360)))
        let near = try await Self.answered(
            401, "{}", [(name: "Date", value: "Fri, 26 Jun 2026 08:56:00 GMT")])
        #expect(near?.error == .unauthorized)
        let broken = try await Self.answered(401, "{}", [(name: "Date", value: "yesterday")])
        #expect(broken?.error == .unauthorized)
    }

    @Test("an accepted heartbeat tells how far the clock is off, beyond a minute")
    func skewOfNews() async throws {
        for (date, skew) in [
            ("Fri, 26 Jun 2026 09:02:00 GMT", Duration.seconds(120)), ("Fri, 26 Jun 2026 09:00:59 GMT", nil),
        ] {
            let transport = ScriptedTransport(
                status: 200, DeviceSample.sealed(DeviceSample.document()),
                headers: [(name: "Date", value: date)]
            )
            let service = HeartbeatService(
                connection: ControlConnection(transport: transport, clock: { Self.now }))
            let news = try await service.sendHeartbeat(
                DeviceSample.identity, status: .connected, tunnelUp: true, lastHandshake: nil,
                try DeviceSample.settings())
            #expect(news.clockSkew == skew)
        }
    }

    @Test("each way in which an exchange breaks has its meaning")
    func exchanges() async throws {
        let cases: [(HTTPError, AgentError, Bool)] = [
            (.tls("expired"), .tls("expired"), false),
            (.timedOut, .heartbeatFailed("no answer in time"), false),
            (.truncated, .heartbeatFailed("the connection ended within the answer"), true),
            (.tooLarge, .heartbeatFailed("the answer is too large"), true),
            (.connect("refused"), .heartbeatFailed("no connection: refused"), false),
        ]
        for (error, meaning, isMalformed) in cases {
            let failure = try await Self.heartbeat(ScriptedTransport(error))
            #expect(failure == ServiceFailure(meaning, isMalformed: isMalformed))
        }
        for error in [HTTPError.connect("unreachable"), .resolve("no answer"), .timedOut] {
            let failure = try await Self.heartbeat(ScriptedTransport(error), isOnline: false)
            #expect(failure?.error == .networkOffline)
        }
    }
}
