// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Foundation
internal import Glibc
internal import Synchronization
internal import Testing

@Suite("Event streams of the server")
struct ServerStreamTests {
    /// What the server's end of streams went through.
    private final class Streams: Sendable {
        private let state = Mutex((writers: [StreamWriter](), closedCount: 0))
        var writers: [StreamWriter] { state.withLock { $0.writers } }
        var closedCount: Int { state.withLock { $0.closedCount } }

        func reply(marker: (@Sendable (Int) -> [UInt8])? = nil, bufferLimit: Int? = nil) -> ServerReply {
            .stream(
                ServerStream(
                    headers: [("Content-Type", "text/event-stream")], bufferLimit: bufferLimit,
                    lossMarker: marker, onClosed: { self.state.withLock { $0.closedCount += 1 } },
                    attach: { writer in self.state.withLock { $0.writers.append(writer) } }))
        }
    }

    /// A text that grows on another thread.
    private final class Text: Sendable {
        private let state = Mutex("")
        var value: String { state.withLock { $0 } }
        func add(_ bytes: [UInt8]) { state.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
    }

    private let options = HTTPClientOptions.patient

    @Test("what is written arrives in order, and closing ends the stream in order")
    func order() async throws {
        let streams = Streams()
        let server = try TestServer { _ in streams.reply() }
        let text = Text()
        let task = Task {
            try await HTTPClient().stream(HTTPRequest(url: server.url()), options: options) { text.add($0) }
        }
        try await eventually("the stream is there") { streams.writers.count == 1 }
        let writer = streams.writers[0]
        for number in 0..<300 {
            writer.write(Array("data: \(number)\n\n".utf8))
            if number.isMultiple(of: 50) { try await Task.sleep(for: .milliseconds(5)) }
        }
        writer.close()
        let answer = try await task.value
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == "text/event-stream")
        #expect(text.value == (0..<300).map { "data: \($0)\n\n" }.joined())
        try await eventually("the owner is told") { streams.closedCount == 1 }
        #expect(writer.isClosed)
    }

    @Test("writers on many threads at once lose and mix nothing")
    func manyWriters() async throws {
        let streams = Streams()
        let server = try TestServer { _ in streams.reply(bufferLimit: 10_000_000) }
        let text = Text()
        let task = Task {
            try await HTTPClient().stream(HTTPRequest(url: server.url()), options: options) { text.add($0) }
        }
        try await eventually("the stream is there") { streams.writers.count == 1 }
        let writer = streams.writers[0]
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask { for number in 0..<500 { writer.write(Array("\(task):\(number)\n".utf8)) } }
            }
        }
        writer.close()
        _ = try await task.value
        let lines = text.value.split(separator: "\n")
        #expect(lines.count == 4000)
        for task in 0..<8 {
            #expect(
                lines.filter { $0.hasPrefix("\(task):") }.map { String($0) }
                    == (0..<500).map { "\(task):\($0)" })
        }
    }

    @Test("a silent stream brings comments, which keep a client that watches for silence")
    func pings() async throws {
        let streams = Streams()
        let server = try TestServer(options: .with { $0.streamPing = .milliseconds(50) }) { _ in
            streams.reply()
        }
        let text = Text()
        var options = options
        options.streamIdleTimeout = .seconds(30)
        let task = Task { [options] in
            try await HTTPClient().stream(HTTPRequest(url: server.url()), options: options) { text.add($0) }
        }
        try await eventually("three pings") { text.value.hasPrefix(": ping\n\n: ping\n\n: ping\n\n") }
        task.cancel()
        #expect(await failure { try await task.value } == .cancelled)
        // Nothing is written any more but pings: they alone show that the client is gone.
        try await eventually("the loss of the client is noticed") { streams.closedCount == 1 }
        #expect(streams.writers[0].isClosed)
    }

    @Test("a client that stops reading loses the oldest events and is cut off in the end")
    func slowClient() async throws {
        let streams = Streams()
        let options = HTTPServerOptions.with {
            $0.responseTimeout = .milliseconds(500)
            $0.streamPing = .milliseconds(100)
        }
        let server = try TestServer(options: options) { _ in
            streams.reply(bufferLimit: 100_000)
        }
        let descriptor = try Sockets.connect(port: server.port)
        defer { close(descriptor) }
        Sockets.send(descriptor, "GET / HTTP/1.0\r\n\r\n")
        try await eventually("the stream is there") { streams.writers.count == 1 }
        let writer = streams.writers[0]
        let event = Array("\(String(repeating: "e", count: 9998))\n\n".utf8)
        // More than all buffers on the way hold.
        try await eventually("the client is cut off") {
            for _ in 0..<100 { writer.write(event) }
            return streams.closedCount == 1
        }
        #expect(writer.droppedCount > 0)
        #expect(writer.isClosed)
    }

    @Test("a client that pauses gets the marker where events are missing")
    func pausingClient() async throws {
        let streams = Streams()
        let server = try TestServer { _ in
            streams.reply(marker: { Array("lost \($0)\n".utf8) }, bufferLimit: 100_000)
        }
        let descriptor = try Sockets.connect(port: server.port)
        defer { close(descriptor) }
        Sockets.send(descriptor, "GET / HTTP/1.0\r\n\r\n")
        try await eventually("the stream is there") { streams.writers.count == 1 }
        let writer = streams.writers[0]
        let counter = Mutex(0)
        try await eventually("events are dropped") {
            for _ in 0..<100 {
                let number = counter.withLock { count in
                    count += 1
                    return count
                }
                writer.write(Array("\(number) \(String(repeating: "e", count: 9990))\n".utf8))
            }
            return writer.droppedCount > 0
        }
        writer.close()
        let text = try await blocking { Sockets.readAll(descriptor) }
        let lines = parts(text).body.split(separator: "\n")
        var expected = 1
        var lostCount = 0
        for line in lines {
            let words = line.split(separator: " ")
            let number = try #require(Int(words[0] == "lost" ? words[1] : words[0]))
            if words[0] == "lost" {
                expected += number
                lostCount += number
            } else {
                #expect(number == expected)
                expected += 1
            }
        }
        #expect(expected == counter.withLock { $0 } + 1)
        #expect(lostCount == writer.droppedCount)
        #expect(lostCount > 0)
    }

    @Test("a client of HTTP/1.0 gets the events without chunks, and HEAD none and no writer")
    func otherForms() async throws {
        let streams = Streams()
        let server = try TestServer { _ in
            let reply = streams.reply()
            guard case .stream(var stream) = reply else { return reply }
            let attach = stream.attach
            stream.attach = { writer in
                attach(writer)
                writer.write(Array("data: 1\n\n".utf8))
                writer.close()
            }
            return .stream(stream)
        }
        #expect(parts(try await server.exchange("GET / HTTP/1.0\r\n\r\n")) == ("200", "data: 1\n\n"))
        #expect(streams.writers.count == 1)
        let head = try await server.exchange("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(parts(head) == ("200", ""))
        #expect(head.contains("\r\nContent-Type: text/event-stream\r\n"))
        #expect(streams.writers.count == 1)
    }
}
