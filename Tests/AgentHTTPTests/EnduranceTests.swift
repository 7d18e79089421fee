// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Foundation
internal import Glibc
internal import Synchronization
internal import Testing

@Suite("Long use of client and server")
struct EnduranceTests {
    /// The memory of this process that is in use, in bytes.
    private static func residentByteCount() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return try #require(pages) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func descriptorCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    /// Sends requests of each kind: with content, failing, cancelled, over new connections, streams.
    private static func use(
        _ server: TestServer, _ client: HTTPClient, _ options: HTTPClientOptions, times: Int
    ) async throws {
        let body = [UInt8](repeating: 1, count: 20_000)
        for number in 0..<times {
            if number.isMultiple(of: 50) { client.reset() }
            let request = HTTPRequest(method: "POST", url: server.url("/\(number % 4)"), body: body)
            switch number % 4 {
            case 0: #expect(try await client.send(request, options: options).body.count == 20_000)
            case 1: #expect(await failure { try await client.send(request, options: options) } == .truncated)
            case 2: #expect(try await client.stream(request, options: options) { _ in }.status == 200)
            default:
                let task = Task { try await client.send(request, options: options) }
                if number.isMultiple(of: 3) { await Task.yield() }
                task.cancel()
                _ = await task.result
            }
        }
    }

    @Test("thousands of requests of all kinds keep neither memory nor descriptors", arguments: [false, true])
    func flatMemory(underTLS: Bool) async throws {
        let identity = try DevelopmentCertificate.make(hostNames: ["control.test"], addresses: ["127.0.0.1"])
        let folder = try TemporaryFolder()
        let options = HTTPClientOptions.patient(
            certificateAuthorityFile: try folder.write(identity.certificatePEM, to: "ca.pem"))
        let server = try TestServer(tls: underTLS ? identity : nil) { request in
            switch request.path {
            case "/1": .drop
            case "/2":
                .stream(
                    ServerStream { writer in
                        writer.write([UInt8](repeating: 2, count: 20_000))
                        writer.close()
                    })
            default: .response(ServerResponse(status: 200, body: request.body))
            }
        }
        let client = HTTPClient()
        let count = underTLS ? 200 : 500
        try await Self.use(server, client, options, times: count)
        let descriptorCount = try Self.descriptorCount()
        // Less than a kilobyte a request; its content and the answer's have 20 each.
        try await Self.expectGrowth(below: count * 1000) {
            try await Self.use(server, client, options, times: count)
        }
        try await eventually("the descriptors of requests are closed") {
            try Self.descriptorCount() - descriptorCount < 200
        }
    }

    /// Repeats a body that may not keep so much memory.
    ///
    /// Other tests of this process take and give memory meanwhile, but what the body keeps shows each time.
    private static func expectGrowth(below limit: Int, _ body: () async throws -> Void) async throws {
        var growth: [Int] = []
        while growth.count < 20 {
            let before = try residentByteCount()
            try await body()
            growth.append(try residentByteCount() - before)
            if growth.count >= 3, growth.contains(where: { $0 < limit }) { return }
        }
        Issue.record("the memory grows by \(growth)")
    }

    /// What the owner of a stream keeps for one client, with a circle through the writer.
    private final class StreamOwner: Sendable {
        private let writer = Mutex<StreamWriter?>(nil)
        private let keepsake = [UInt8](repeating: 1, count: keepsakeByteCount)
        private let count: LiveCount

        init(_ count: LiveCount) {
            self.count = count
            count.value.add(1, ordering: .relaxed)
        }

        deinit { count.value.subtract(1, ordering: .relaxed) }

        func hold(_ writer: StreamWriter) {
            self.writer.withLock { $0 = writer }
            writer.write(Array("data: \(keepsake.count)\n\n".utf8))
        }

        func noteLoss(_ count: Int) -> [UInt8] { Array("lost \(count) of \(keepsake.count)\n".utf8) }

        func noteEnd() { writer.withLock { $0 }?.close() }

        static let keepsakeByteCount = 65_536
    }

    private final class LiveCount: Sendable {
        let value = Atomic(0)
        var isZero: Bool { value.load(ordering: .relaxed) == 0 }
    }

    @Test("hundreds of clients of event streams come and go and leave nothing behind")
    func streamClients() async throws {
        let owners = LiveCount()
        let server = try TestServer(options: .with { $0.streamPing = .milliseconds(20) }) { _ in
            let owner = StreamOwner(owners)
            return .stream(
                ServerStream(
                    lossMarker: { owner.noteLoss($0) }, onClosed: { owner.noteEnd() },
                    attach: { owner.hold($0) }))
        }
        func clients(_ count: Int) async throws {
            let port = server.port
            for _ in 0..<count {
                try await blocking {
                    let descriptor = try Sockets.connect(port: port)
                    Sockets.send(descriptor, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                    var byte: UInt8 = 0
                    #expect(recv(descriptor, &byte, 1, 0) == 1)
                    close(descriptor)
                }
            }
            try await eventually("the owners of all streams are freed") { owners.isZero }
        }
        try await clients(100)
        let descriptorCount = try Self.descriptorCount()
        // A tenth of what the owners kept.
        try await Self.expectGrowth(below: 200 * StreamOwner.keepsakeByteCount / 10) {
            try await clients(200)
        }
        try await eventually("the descriptors of streams are closed") {
            try Self.descriptorCount() - descriptorCount < 100
        }
    }
}
