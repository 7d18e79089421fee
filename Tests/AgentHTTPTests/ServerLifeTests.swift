// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Glibc
internal import Synchronization
internal import Testing

@Suite("Start and stop of the server")
struct ServerLifeTests {
    @Test("stopping with 60 event streams open ends them all in order", arguments: [false, true])
    func manyStreams(areBusy: Bool) async throws {
        let writers = Mutex<[StreamWriter]>([])
        let closedCount = Atomic(0)
        let place = areBusy ? "127.0.2.1" : "127.0.2.2"
        let server = try TestServer(at: place, options: .with { $0.stopGrace = .seconds(600) }) { _ in
            .stream(
                ServerStream(
                    onClosed: { closedCount.add(1, ordering: .relaxed) },
                    attach: { writer in writers.withLock { $0.append(writer) } }))
        }
        let client = HTTPClient()
        let tasks = (0..<60).map { _ in
            Task {
                try await client.stream(HTTPRequest(url: server.url()), options: .patient) { _ in }
            }
        }
        try await eventually("all streams are there") { writers.withLock { $0.count } == 60 }
        let writing = Task.detached {
            while areBusy, !Task.isCancelled {
                for writer in writers.withLock({ $0 }) { writer.write(Array("data: x\n\n".utf8)) }
                await Task.yield()
            }
        }
        try await blocking { server.server.stop() }
        // Returns only when all streams are gone.
        #expect(closedCount.load(ordering: .relaxed) == 60)
        for task in tasks { #expect(try await task.value.status == 200) }
        writing.cancel()
        #expect(
            await failure {
                try await client.send(HTTPRequest(url: server.url()), options: .patient)
            } == .connect("Connection refused"))
    }

    @Test("a client that reads nothing of its stream does not hold up the stop")
    func stalledStream() async throws {
        let writers = Mutex<[StreamWriter]>([])
        let server = try TestServer { _ in
            .stream(ServerStream(attach: { writer in writers.withLock { $0.append(writer) } }))
        }
        let descriptor = try Sockets.connect(port: server.port)
        defer { close(descriptor) }
        Sockets.send(descriptor, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try await eventually("the stream is there") { writers.withLock { $0.count } == 1 }
        let writer = writers.withLock { $0[0] }
        try await eventually("the client's buffers are full") {
            for _ in 0..<100 { writer.write([UInt8](repeating: 0x61, count: 10_000)) }
            return writer.droppedCount > 0
        }
        try await blocking { server.server.stop() }
        #expect(writer.isClosed)
    }

    @Test("a stop beside the tasks waits for the answer that a task still makes")
    func aside() async throws {
        let began = Atomic(false)
        // 127.0.2.3 has all its ports to itself, so that nobody takes this one once the server has stopped.
        let options = HTTPServerOptions.with { $0.stopGrace = .seconds(600) }
        let server = try TestServer(at: "127.0.2.3", options: options) { _ in
            began.store(true, ordering: .relaxed)
            try? await Task.sleep(for: .milliseconds(200))
            return .response(ServerResponse(status: 200, body: Array("late".utf8)))
        }
        let answer = Task { try await HTTPClient().send(HTTPRequest(url: server.url()), options: .patient) }
        try await eventually("the request is there") { began.load(ordering: .relaxed) }
        await server.server.stopAside()
        #expect(try await answer.value.body == Array("late".utf8))
        #expect(
            await failure {
                try await HTTPClient().send(HTTPRequest(url: server.url()), options: .patient)
            } == .connect("Connection refused"))
        await server.server.stopAside()
    }

    @Test("a request under way is answered within the grace")
    func grace() async throws {
        let arrived = Atomic(false)
        let server = try TestServer(options: .with { $0.stopGrace = .seconds(600) }) { request in
            arrived.store(true, ordering: .relaxed)
            try? await Task.sleep(for: .milliseconds(200))
            return await TestServer.echo(request)
        }
        let answer = Task { try await server.exchange("GET /a HTTP/1.1\r\nHost: a\r\n\r\n") }
        try await eventually("the request is there") { arrived.load(ordering: .relaxed) }
        try await blocking { server.server.stop() }
        #expect(parts(try await answer.value) == ("200", "GET /a [] - "))
        #expect(try await answer.value.contains("\r\nConnection: close\r\n"))
    }

    @Test(
        "a handler that does not end is cancelled after the grace, and need not obey",
        arguments: [false, true])
    func endlessHandler(obeys: Bool) async throws {
        let counts = Mutex((arrived: 0, cancelled: 0))
        let release = Atomic(false)
        let server = try TestServer(options: .with { $0.stopGrace = .milliseconds(50) }) { request in
            counts.withLock { $0.arrived += 1 }
            while !release.load(ordering: .relaxed), !(obeys && Task.isCancelled) {
                try? await Task.sleep(for: .milliseconds(10))
                await Task.yield()
            }
            if Task.isCancelled { counts.withLock { $0.cancelled += 1 } }
            return await TestServer.echo(request)
        }
        let answers = (0..<10).map { _ in
            Task { try await server.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
        }
        try await eventually("the requests are there") { counts.withLock { $0.arrived } == 10 }
        try await blocking { server.server.stop() }
        for answer in answers { #expect(try await answer.value.isEmpty) }
        // An answer that comes after the stop does no harm.
        release.store(true, ordering: .relaxed)
        try await eventually("the handlers were cancelled") { counts.withLock { $0.cancelled } == 10 }
    }

    @Test("servers stop in the middle of heavy use, again and again")
    func stopUnderLoad() async throws {
        for round in 0..<20 {
            let server = try TestServer(at: "127.0.1.\(round + 1)") { request in
                if request.path == "/stream" {
                    return .stream(
                        ServerStream { writer in
                            for number in 0..<20 { writer.write(Array("\(number)\n".utf8)) }
                            if round.isMultiple(of: 2) { writer.close() }
                        })
                }
                await Task.yield()
                return await TestServer.echo(request)
            }
            let client = HTTPClient()
            let tasks = (0..<16).map { number in
                Task {
                    var count = 0
                    while !Task.isCancelled {
                        let request = HTTPRequest(url: server.url(number.isMultiple(of: 2) ? "/stream" : "/"))
                        let answer = try? await client.stream(request, options: .patient) { _ in }
                        guard answer != nil else { return count }
                        count += 1
                    }
                    return count
                }
            }
            try await Task.sleep(for: .milliseconds(round * 3))
            try await blocking { server.server.stop() }
            for task in tasks {
                task.cancel()
                _ = await task.value
            }
            await #expect(throws: HTTPError.self) {
                try await client.send(HTTPRequest(url: server.url()), options: .patient)
            }
        }
    }

    @Test("a server starts once and stops as often as one likes")
    func lifeCycle() throws {
        let server = HTTPServer(
            listeners: [.tcp(address: "127.0.0.1", port: 0, tls: nil)], handler: TestServer.echo)
        #expect(server.port == nil)
        try server.start()
        #expect(server.port != nil)
        #expect(throws: HTTPServerError.alreadyStarted) { try server.start() }
        server.stop()
        server.stop()
        #expect(throws: HTTPServerError.alreadyStarted) { try server.start() }
        HTTPServer(listeners: [], handler: TestServer.echo).stop()
    }
}
