// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Synchronization

/// An agent with its directories, in a namespace of a site.
final class Agent: Sendable {
    let namespace: Namespace
    /// What it is called on the server too.
    let name: String
    let stateDirectory: String
    let runtimeDirectory: String
    private let configurationFile: String
    private let program: [String]
    private let lab: Lab
    private let processes = Mutex<[Child]>([])

    /// Prepares an agent; nothing runs yet.
    ///
    /// - Parameters:
    ///   - settings: Lines of the administrator's file.
    ///   - program: The daemon, with arguments besides its places.
    init(
        _ lab: Lab, in namespace: Namespace, name: String, settings: [String],
        program: [String] = [Program.agent, "--log-level", "debug"]
    ) throws {
        self.lab = lab
        self.program = program
        self.namespace = namespace
        self.name = name
        stateDirectory = lab.path(of: "\(name).state")
        runtimeDirectory = lab.path(of: "\(name).run")
        configurationFile = try lab.file("\(name).conf", settings.joined(separator: "\n") + "\n")
        try FileManager.default.createDirectory(
            atPath: runtimeDirectory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755])
    }

    /// The path of the socket.
    var socket: String { "\(runtimeDirectory)/agent.sock" }

    /// The process that was started last.
    var child: Child? { processes.withLock { $0.last } }

    /// All that its processes have written.
    var log: String { processes.withLock { $0 }.map { $0.standardOutput + $0.standardError }.joined() }

    /// Changes the administrator's file; the agent must be told.
    func setSettings(_ settings: [String]) throws {
        try lab.file("\(name).conf", settings.joined(separator: "\n") + "\n")
    }

    /// Starts the daemon; returns at once.
    @discardableResult
    func launch() throws -> Child {
        let child = try lab.spawn(
            in: namespace,
            arguments: program + ["--state-dir", stateDirectory, "--runtime-dir", runtimeDirectory]
                + ["--config", configurationFile])
        processes.withLock { $0.append(child) }
        return child
    }

    /// Starts the daemon and gives the time until the tunnel that it has stored carries packets.
    func launchUntilTunnelCarries() async throws -> Duration {
        let start = ContinuousClock.now
        try launch()
        try await Shell.eventually("the tunnel carries packets again") {
            try await namespace.ping(Site.inner, within: 1)
        }
        return ContinuousClock.now - start
    }

    /// Starts the daemon and returns when it answers.
    func start() async throws {
        let child = try launch()
        try await Shell.eventually("the agent answers") {
            if let status = child.poll() {
                throw ShellError.neverTrue("the agent runs (\(status)): \(child.standardError)")
            }
            return try await run("status", "--check", "live").succeeded
        }
    }

    /// Ends the daemon in order.
    func stop() async throws {
        guard let child else { return }
        let output = try await child.stop()
        guard output.succeeded else { throw ShellError.failed(output) }
    }

    /// Ends the daemon as a failure of power would.
    func kill() async throws {
        guard let child else { return }
        child.signal(SIGKILL)
        _ = try await child.wait(atMost: Shell.patience)
    }

    /// The words of a command.
    func words(_ arguments: [String]) -> [String] {
        namespace.prefix + [Program.command, "--socket", socket] + arguments
    }

    /// Runs a command, which may fail.
    func run(_ arguments: String..., input: String = "", atMost limit: Duration = Shell.patience) async throws
        -> Output
    {
        try await Shell.run(words(arguments), input: input, atMost: limit)
    }

    /// Runs a command, which must succeed.
    @discardableResult
    func command(_ arguments: String..., input: String = "", atMost limit: Duration = Shell.patience)
        async throws -> Output
    {
        try await Shell.check(words(arguments), input: input, atMost: limit)
    }

    /// The status.
    func status() async throws -> AgentStatus {
        let text = try await command("--json", "status").standardOutput
        return try JSONDecoder().decode(AgentStatus.self, from: Data(text.utf8))
    }

    /// Waits for a status; what it was instead is in the error.
    @discardableResult
    func waitFor(
        _ sentence: String, atMost limit: Duration = Shell.patience,
        every pause: Duration = .milliseconds(100), _ condition: (AgentStatus) -> Bool
    ) async throws -> AgentStatus {
        let deadline = ContinuousClock.now + limit
        while true {
            let status = try await status()
            if condition(status) { return status }
            guard ContinuousClock.now < deadline else {
                let lines = log.split(separator: "\n").suffix(30).joined(separator: "\n")
                throw ShellError.neverTrue("\(sentence); \(name) is \(status)\n\(lines)")
            }
            try await Task.sleep(for: pause)
        }
    }

    /// Waits until the tunnel is connected.
    @discardableResult
    func waitUntilConnected(atMost limit: Duration = Shell.patience) async throws -> AgentStatus {
        try await waitFor("\(name) is connected", atMost: limit) { $0.state == "connected" }
    }

    /// Waits until the server has answered a heartbeat sent after now.
    @discardableResult
    func waitForHeartbeat(atMost limit: Duration = Shell.patience) async throws -> AgentStatus {
        let before = try await status().counters.heartbeatsAccepted
        return try await waitFor("\(name) has a heartbeat accepted", atMost: limit) {
            $0.counters.heartbeatsAccepted > before
        }
    }
}
