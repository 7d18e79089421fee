// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuardControl
import Synchronization
import Testing

/// A whole server in this process, on a free port of loopback.
final class RunningServer: Sendable {
    static let publicKey = "HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw="

    let directory: String
    let log = TestLog()
    private let server: ControlServer

    /// Prepares a server; the directory outlives it.
    init(_ directory: String, _ arguments: String...) throws {
        self.directory = directory
        let base = ["serve", "--endpoint", "vpn.example.net:51820", "--public-key", Self.publicKey]
        let listens = arguments.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
        let limit =
            arguments.contains("--provisions-per-minute") ? [] : ["--provisions-per-minute", "1000"]
        let invocation = try ControlInvocation(base + listens + limit + arguments)
        guard case .serve(let options) = invocation.command else { throw NotAServer() }
        server = ControlServer(options: options, directory: directory, log: log)
    }

    private struct NotAServer: Error {}

    /// Starts the server and gives a client of it.
    func start() async throws -> WireClient {
        try await server.start { _ in }
        let url = try #require(await server.addresses.first)
        let certificate = "\(directory)/\(ServerIdentity.certificateName)"
        return WireClient(url, authority: url.hasPrefix("https:") ? certificate : nil)
    }

    /// Ends the server.
    func stop() async { await server.stop() }

    /// A new token, made by the command.
    func token() async throws -> String {
        let result = try await CommandBench(directory: directory).object("token", "new")
        return try #require(result["token"] as? String)
    }
}

/// Runs a body with a server, and ends the server whatever happens.
func withServer<Result>(
    _ server: RunningServer, _ body: (WireClient) async throws -> Result
) async throws -> Result {
    let client = try await server.start()
    do {
        let result = try await body(client)
        await server.stop()
        return result
    } catch {
        await server.stop()
        throw error
    }
}
