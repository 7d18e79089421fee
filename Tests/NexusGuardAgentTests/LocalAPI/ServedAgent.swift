// SPDX-License-Identifier: MIT

import AgentHTTP
import AgentStore
import Glibc
import NexusGuardAgent

/// A double of the agent behind a real unix socket.
final class ServedAgent: Sendable {
    /// The double.
    let agent: FakeAgent
    /// Its log.
    let log = LogStore()
    /// The interface.
    let api: LocalAPI
    /// The path of the socket.
    let socket: String
    private let folder: TemporaryFolder

    /// How long commands wait for an answer: the service shares its threads with tests that keep them busy.
    static let patience = "10m"

    /// Serves.
    ///
    /// - Parameter group: The group of operators.
    init(isProvisioned: Bool = true, group: String = "no-such-group-here") throws {
        folder = try TemporaryFolder()
        // Other users must be able to reach the socket, as they are in the daemon's runtime directory.
        chmod(folder.path, 0o755)
        agent = try FakeAgent(isProvisioned: isProvisioned)
        socket = folder.path + "/agent.sock"
        var options = LocalAPI.Options(socketPath: socket)
        options.operatorGroup = group
        api = LocalAPI(control: agent, log: log, options: options)
        try api.start()
    }

    /// Ends the service; to be called before the double goes.
    func stop() { api.stop() }

    /// Runs `nexusguard` against it.
    ///
    /// - Parameter prefix: A programme that runs it, with its arguments.
    func run(
        _ arguments: [String], prefix: [String] = [], environment: [String: String] = [:], input: String = ""
    ) async throws -> Shell.Output {
        let words = prefix + [Built.path("nexusguard"), "--socket", socket] + arguments
        // Waiting for a process blocks a thread, of which the pool has few.
        let fixed = ["LC_ALL": "C", "TZ": "UTC", "NO_COLOR": "", "NEXUSGUARD_TIMEOUT": Self.patience]
        return try await Shell.runAside(
            words, environment: fixed.merging(environment) { $1 }, input: input)
    }
}

/// Executables that were built with the tests.
enum Built {
    /// The path of one.
    static func path(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let tests = String(decoding: buffer[..<max(count, 0)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // With Swift Testing the process is the package manager's helper, which gets the bundle's path.
        for candidate in [tests] + CommandLine.arguments where candidate.contains("/") {
            let folder = candidate.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            let path = folder.joined(separator: "/") + "/" + name
            if access(path, X_OK) == 0 { return path }
        }
        return name
    }
}
