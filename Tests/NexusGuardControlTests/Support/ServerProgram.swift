// SPDX-License-Identifier: MIT

import Foundation
import Glibc
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

    private static let forbidsSkipping =
        ProcessInfo.processInfo.environment["NEXUSGUARD_SKIP_NOTHING"] == "1"

    /// Whether the programme is there; prints why not.
    static let isBuilt: Bool = {
        if access(path, X_OK) == 0 { return true }
        print("The tests of the programme are skipped: no executable \(path)")
        return forbidsSkipping
    }()

    /// Whether tests with network namespaces can run; prints why not.
    static let hasNamespaces: Bool = {
        var obstacles: [String] = []
        if geteuid() != 0 { obstacles.append("not root") }
        if access("/dev/net/tun", R_OK | W_OK) != 0 { obstacles.append("no /dev/net/tun") }
        if access(path, X_OK) != 0 { obstacles.append("no executable \(path)") }
        for tool in ["ip", "ping"] where tools(tool) == nil { obstacles.append("no \(tool)") }
        guard !obstacles.isEmpty else { return true }
        print("The tests of the server peer in namespaces are skipped: \(obstacles.joined(separator: ", "))")
        return forbidsSkipping
    }()

    /// Whether tests that let another process hold the database can run; prints why not.
    static let hasPython: Bool = {
        if tools("python3") != nil { return true }
        print("The test of a database that is held is skipped: no python3")
        return forbidsSkipping
    }()

    /// The full path of a tool.
    static func tools(_ name: String) -> String? {
        ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
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
        let path = command.contains("/") ? command : try #require(ServerProgram.tools(command))
        process.executableURL = URL(fileURLWithPath: path)
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
