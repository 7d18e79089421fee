// SPDX-License-Identifier: MIT

internal import Foundation
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
    static let hasTools: Bool = {
        let missing = ["curl", "python3"].filter { (try? Command.run($0, "--version"))?.status != 0 }
        if missing.isEmpty || skipsNothing { return true }
        print(
            "Tests of AgentHTTP against other programmes are skipped: no \(missing.joined(separator: " or "))"
        )
        return false
    }()
    static let toolsReason: Comment = "curl or python3 is missing"

    static let isRoot: Bool = {
        if getuid() == 0 || skipsNothing { return true }
        print("Tests of AgentHTTP that need root are skipped: not root")
        return false
    }()
    static let reason: Comment = "not root"

    private static let skipsNothing = ProcessInfo.processInfo.environment["NEXUSGUARD_SKIP_NOTHING"] == "1"
}
