// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Synchronization

/// A control server that is the tunnel's other end too.
final class ControlServer: Sendable {
    /// A device as the server lists it.
    struct Device: Decodable, Sendable {
        /// A generation of its keys.
        struct Key: Decodable, Sendable {
            let generation: Int
            let public_key: String
            let state: String
        }

        let id: String
        let name: String?
        let state: String
        let hwid: String
        let addresses: [String]
        let keys: [Key]
    }

    private struct DeviceList: Decodable { let devices: [Device] }

    /// The port of the control interface.
    static let port = 8443

    let namespace: Namespace
    private let lab: Lab
    private let process = Mutex<Child?>(nil)
    private let faultName: String
    /// The name of the file of `authorityFile` in the laboratory's folder.
    let authorityName: String
    /// The file of the authority that devices trust.
    let authorityFile: String
    private let directory: String

    /// Prepares a server; nothing runs yet.
    init(_ lab: Lab, in namespace: Namespace, name: String = "control") {
        self.lab = lab
        self.namespace = namespace
        directory = lab.path(of: name)
        faultName = "\(name).faults"
        authorityName = "\(name).pem"
        authorityFile = lab.path(of: authorityName)
    }

    /// The process that runs.
    var child: Child? { process.withLock { $0 } }

    /// Starts the server and returns when it listens.
    ///
    /// - Parameters:
    ///   - endpoint: Where devices find the tunnel's other end.
    ///   - options: Further options of `serve`.
    func start(endpoint: String = "192.0.2.1:51820", _ options: [String] = []) async throws {
        try await serve(
            [
                "--with-tunnel", "--endpoint", endpoint, "--listen", "192.0.2.1:\(Self.port)",
                "--heartbeat-interval", "5s", "--provisions-per-minute", "100000", "--log-level", "debug",
                "--fault-file", lab.path(of: faultName),
            ] + options)
    }

    /// Starts a server without a tunnel that only this namespace reaches, and returns when it listens.
    func startAlone() async throws {
        try await serve([
            "--listen", "127.0.0.1:0", "--endpoint", "192.0.2.1:51820", "--public-key",
            // That of the generator, 9: a point like any other.
            "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ])
    }

    private func serve(_ options: [String]) async throws {
        let child = try lab.spawn(
            in: namespace,
            arguments: [Program.control, "--state-dir", directory, "serve", "--export-ca", authorityFile]
                + options)
        process.withLock { $0 = child }
        try await Shell.eventually("the control server is ready") {
            if let status = child.poll() {
                throw ShellError.neverTrue("the control server runs (\(status)): \(child.standardError)")
            }
            return child.standardOutput.contains("https://")
        }
    }

    /// Ends the server in order.
    func stop() async throws {
        guard let child else { return }
        let output = try await child.stop()
        process.withLock { $0 = nil }
        guard output.succeeded else { throw ShellError.failed(output) }
    }

    /// Runs one of the server's commands, which must succeed.
    @discardableResult
    func command(_ arguments: String...) async throws -> Output {
        try await Shell.check(
            namespace.prefix + [Program.control, "--state-dir", directory] + arguments)
    }

    /// A fresh token, and its file of mode 0600.
    func token(name: String) async throws -> (text: String, path: String) {
        let text = try await command("token", "new", "--name", name).text
        return (text, try lab.file("\(name).token", text + "\n"))
    }

    /// The devices, with those that lost their identity.
    func devices() async throws -> [Device] {
        let text = try await command("--json", "device", "list", "--all").standardOutput
        return try JSONDecoder().decode(DeviceList.self, from: Data(text.utf8)).devices
    }

    /// The one device with a name.
    func device(_ name: String) async throws -> Device {
        let found = try await devices().filter { $0.name == name }
        guard found.count == 1, let device = found.first else {
            throw ShellError.neverTrue("the server has one device \(name), not \(found.count)")
        }
        return device
    }

    /// Lifts the limit of requests for each device, which counts nonces that are remembered: they are forgotten soon.
    func liftRequestLimit() async throws {
        let script = """
            import sqlite3, sys
            sqlite3.connect(sys.argv[1], timeout=30).execute('CREATE TRIGGER forget AFTER INSERT ON nonces '
                'WHEN (SELECT count(*) FROM nonces) > 500 BEGIN DELETE FROM nonces; END')
            """
        try await Shell.check(["python3", "-c", script, "\(directory)/control.db"])
    }

    /// What goes wrong from now on, and nothing else.
    func setFaults(_ faults: String...) throws {
        try lab.file(faultName, faults.joined(separator: "\n") + "\n")
    }
}
