// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Foundation
internal import Glibc
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
        let options = HTTPClientOptions(
            totalTimeout: .seconds(60),
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
        // Other tests of this process take and give memory meanwhile, but what a request keeps shows each time.
        var growth: [Int] = []
        for _ in 0..<4 {
            let before = try Self.residentByteCount()
            try await Self.use(server, client, options, times: count)
            growth.append(try Self.residentByteCount() - before)
        }
        // Less than a kilobyte a request; its content and the answer's have 20 each.
        #expect(growth.contains { $0 < count * 1000 }, "\(growth)")
        #expect(try Self.descriptorCount() - descriptorCount < 200)
    }
}
