// SPDX-License-Identifier: MIT

import AgentHTTP
import Glibc
import Testing

@testable import NexusGuardAgent

@Suite("streams of the page")
struct PageStreamTests {
    @Test("an open stream is use, however long it is silent")
    func use() async throws {
        let bench = try await PageBench()
        let session = try await bench.session()
        let descriptor = try await bench.stream(session: session)
        for _ in 0..<10 { await bench.advance(by: .seconds(3600)) }
        #expect(try await bench.send("GET", "/api/v1/status", session: session).status == 200)
        close(descriptor)
        // Without the stream the half hour begins with its end.
        let isGone = await bench.eventually {
            await bench.agent.show { $0.counters.heartbeatsSent += 1 }
            return await bench.page.streamCount == 0
        }
        #expect(isGone)
        await bench.advance(by: .seconds(1799))
        #expect(await bench.page.table.sessions.count == 1)
        await bench.advance(by: .seconds(1))
        #expect(await bench.page.table.sessions.isEmpty)
        #expect(await bench.page.listener == nil)
    }

    @Test("a stream ends with its session")
    func logout() async throws {
        let bench = try await PageBench()
        let (session, other) = (try await bench.session(), try await bench.session())
        let (stream, second) = (
            try await bench.stream(session: session), try await bench.stream(session: other)
        )
        defer {
            close(stream)
            close(second)
        }
        let out = try await bench.send("POST", "/api/v1/ui/logout", session: session, body: "{}")
        #expect(out.status == 204)
        // The end of the connection is what this waits for.
        _ = try await RawHTTP.aside { try RawHTTP.readAll(stream) }
        #expect(await bench.eventually { await bench.page.streamCount == 1 })
        #expect(try await bench.send("GET", "/api/v1/status", session: other).status == 200)
        await bench.page.stop()
    }

    @Test("it stops in order with streams open, and each of them ends")
    func stop() async throws {
        let bench = try await PageBench()
        let session = try await bench.session()
        var streams: [Int32] = []
        for _ in 0..<60 { streams.append(try await bench.stream(session: session)) }
        #expect(await bench.page.streamCount == 60)
        await bench.page.stop()
        for stream in streams {
            _ = try await RawHTTP.aside { try RawHTTP.readAll(stream) }
            close(stream)
        }
        #expect(await bench.page.listener == nil)
        await #expect(throws: APIError.self) { try await bench.page.makeLink(isReadOnly: false) }
    }

    @Test("there is an end to streams, beyond which the page itself is still there")
    func limit() async throws {
        let bench = try await PageBench { $0.streamLimit = 6 }
        let session = try await bench.session()
        var streams: [Int32] = []
        for _ in 0..<6 { streams.append(try await bench.stream(session: session)) }
        let answer = try await bench.send("GET", "/api/v1/events", session: session)
        #expect(answer.status == 503)
        #expect(answer.code == "too-many-streams")
        #expect(answer.header("Retry-After") == "5")
        #expect(try await bench.send("GET", "/").status == 200)
        await bench.page.stop()
        for stream in streams { close(stream) }
    }
}
