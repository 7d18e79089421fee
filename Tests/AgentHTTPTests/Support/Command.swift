// SPDX-License-Identifier: MIT

internal import Foundation
internal import Harness
internal import Testing

/// Other programmes.
enum Command {
    struct Result: Sendable {
        let status: Int32
        let text: String
        let errors: String
    }

    /// Runs a programme of the `PATH` to its end.
    static func run(_ words: String...) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let problems = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus, text: String(decoding: text, as: UTF8.self),
            errors: String(decoding: problems, as: UTF8.self))
    }
}

/// What tests that need other programmes or root look at.
enum Privileges {
    static let hasTools = Machine.mayRun(
        "Tests of AgentHTTP against other programmes", obstacle: Machine.lack(of: ["curl", "python3"]))
    static let toolsReason: Comment = "curl or python3 is missing"

    static let isRoot = Machine.mayRun(
        "Tests of AgentHTTP that need root", obstacle: getuid() == 0 ? nil : "not root")
    static let reason: Comment = "not root"
}
