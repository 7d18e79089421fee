// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import AgentStore
import Glibc
import Testing

@testable import NexusGuardAgent

/// The page of a double of the agent, at a real port of loopback, with a clock that the test moves.
final class PageBench: Sendable {
    let agent: FakeAgent
    let log = LogStore()
    let clock = ManualClock()
    let api: LocalAPI
    let page: PageServer

    init(_ change: (inout PageServer.Options) -> Void = { _ in }) async throws {
        agent = try FakeAgent()
        var apiOptions = LocalAPI.Options()
        apiOptions.clock = clock
        api = LocalAPI(control: agent, log: log, options: apiOptions)
        var options = PageServer.Options()
        options.clock = clock
        // Other tests, and an agent of this host, may have the usual one.
        options.preferredPort = 0
        change(&options)
        let page = PageServer(api: api, options: options)
        self.page = page
        api.setLinkMaker { [weak page] (isReadOnly, address) async throws(APIError) in
            guard let page else { throw .pageUnavailable("the test is over") }
            return try await page.makeLink(isReadOnly: isReadOnly, listeningOn: address)
        }
        await page.start()
    }

    /// The port that it listens on.
    var port: UInt16 {
        get async throws {
            let place = await page.listener?.place
            return try #require(place?.port)
        }
    }

    /// Makes a link and gives its secret.
    func link(isReadOnly: Bool = false) async throws -> String {
        let url = try await page.makeLink(isReadOnly: isReadOnly)
        return try #require(url.split(separator: "#t=").last.map(String.init))
    }

    /// Makes a link and trades it for a session.
    func session(isReadOnly: Bool = false) async throws -> String {
        let answer = try await login(link: try await link(isReadOnly: isReadOnly))
        #expect(answer.status == 200, "\(answer.body)")
        return try #require(answer.text("session"))
    }

    /// Trades a link.
    func login(link: String) async throws -> RawHTTP.Answer {
        try await send("POST", "/api/v1/ui/login", body: #"{"link":"\#(link)"}"#)
    }

    /// Sends a request as a browser does that shows the page.
    ///
    /// - Parameters:
    ///   - session: The session that it is in.
    ///   - headers: Fields that take the place of the browser's; an empty value takes one away.
    func send(
        _ method: String = "GET", _ path: String, session: String? = nil, body: String? = nil,
        headers: [String: String] = [:], from source: UInt32 = 1
    ) async throws -> RawHTTP.Answer {
        let port = try await port
        var fields = ["Host": "127.0.0.1:\(port)", "Sec-Fetch-Site": "same-origin"]
        if method != "GET" && method != "HEAD" { fields["Origin"] = "http://127.0.0.1:\(port)" }
        if body != nil { fields["Content-Type"] = "application/json" }
        if let session { fields["Authorization"] = "Bearer \(session)" }
        for (name, value) in headers { fields[name] = value.isEmpty ? nil : value }
        return try await RawHTTP.send(
            port: port, method, path, headers: fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
            body: body, from: source)
    }

    /// Opens a stream of events, reads its beginning, and gives the descriptor.
    func stream(session: String) async throws -> Int32 {
        let port = try await port
        return try await RawHTTP.aside {
            let descriptor = try RawHTTP.connect(port: port)
            try RawHTTP.write(
                """
                GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\
                Authorization: Bearer \(session)\r\nConnection: close\r\n\r\n
                """, to: descriptor)
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 4096)
            while !text.contains("event: snapshot") {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { throw RawHTTP.Failure(call: text, number: errno) }
                text += String(decoding: buffer[..<count], as: UTF8.self)
            }
            return descriptor
        }
    }

    /// Moves the clock, and waits until the page has done what is due.
    func advance(by duration: Duration) async {
        clock.advance(to: clock.now + duration)
        await page.update()
    }

    /// Waits until something holds, which other threads bring about.
    func eventually(_ holds: @Sendable () async throws -> Bool) async rethrows -> Bool {
        for _ in 0..<60_000 {
            if try await holds() { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }
}
