// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Harness
import Synchronization
import Testing

/// The programme as users run it.
enum ServerProgram {
    /// The executable: `NEXUSGUARD_CONTROL`, or what was built beside the tests.
    static let path: String = {
        if let given = ProcessInfo.processInfo.environment["NEXUSGUARD_CONTROL"] { return given }
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return root.appendingPathComponent(".build/debug/nexusguard-control").path
    }()

    /// Whether the programme is there; prints why not.
    static let isBuilt = Machine.mayRun(
        "The tests of the programme", obstacle: access(path, X_OK) == 0 ? nil : "no executable \(path)")

    /// Whether tests with network namespaces can run; prints why not.
    static let hasNamespaces = Machine.mayRun(
        "The tests of the server peer in namespaces",
        obstacle: Machine.lack(of: ["ip", "ping"], [(path, "NEXUSGUARD_CONTROL")]))

    /// Whether tests that let another process hold the database can run; prints why not.
    static let hasPython = Machine.mayRun(
        "The test of a database that is held", obstacle: Machine.lack(of: ["python3"]))
}

/// A command that runs beside the tests; killed with its owner.
final class ChildProgram: Sendable {
    private let process: Mutex<Process>
    private let directory: TemporaryDirectory

    /// Starts a command, given by full path or found in the system's folders.
    init(_ arguments: [String]) throws {
        directory = try TemporaryDirectory()
        let process = Process()
        let command = try #require(arguments.first)
        process.executableURL = URL(fileURLWithPath: Machine.location(of: command))
        process.arguments = Array(arguments.dropFirst())
        process.standardInput = FileHandle.nullDevice
        for name in ["output", "errors"] {
            try directory.write([], to: name)
        }
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.file("output")))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.file("errors")))
        try process.run()
        self.process = Mutex(process)
    }

    deinit {
        send(SIGKILL)
        // A process that nobody waits for keeps itself.
        process.withLock { $0.waitUntilExit() }
    }

    /// The process id.
    var pid: Int32 { process.withLock { $0.processIdentifier } }
    /// What it wrote to standard output so far.
    var output: String { text("output") }
    /// What it wrote to standard error so far.
    var errors: String { text("errors") }

    private func text(_ name: String) -> String {
        String(decoding: (try? directory.bytes(of: name)) ?? [], as: UTF8.self)
    }

    /// Sends a signal, unless the command has ended.
    func send(_ number: Int32) {
        process.withLock { process in
            if process.isRunning { kill(process.processIdentifier, number) }
        }
    }

    /// Waits for the end; gives the exit status, or 128 and the number of the signal that ended it.
    func wait() async throws -> Int32 {
        try await eventually("the command ends") { self.process.withLock { !$0.isRunning } }
        return process.withLock { process in
            process.terminationReason == .exit
                ? process.terminationStatus : 128 + process.terminationStatus
        }
    }

    /// The URL at which a server listens, once it does.
    func url() async throws -> String {
        try await eventually("the server listens: \(errors)") {
            self.output.contains("\n") || self.process.withLock { !$0.isRunning }
        }
        let line = try #require(output.split(separator: "\n").first, "\(errors)")
        return String(line.dropFirst("listening on ".count))
    }

    /// Runs a command that must succeed to its end; gives its output.
    @discardableResult
    static func run(_ arguments: String...) async throws -> String {
        let child = try ChildProgram(arguments)
        let status = try await child.wait()
        try #require(status == 0, "\(arguments): \(child.output)\(child.errors)")
        return child.output
    }
}
