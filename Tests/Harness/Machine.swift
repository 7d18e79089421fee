// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc

/// What this machine offers to the tests; each target of tests says itself what it needs.
package enum Machine {
    /// Where commands are looked for: an ordinary user's `PATH` lacks the system folders.
    package static let path =
        (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin") + ":/usr/local/sbin:/usr/sbin:/sbin"

    /// The full path of a command, or the name itself when it is not found.
    package static func location(of command: String) -> String {
        guard !command.contains("/") else { return command }
        for folder in path.split(separator: ":") {
            let candidate = "\(folder)/\(command)"
            if access(candidate, X_OK) == 0 { return candidate }
        }
        return command
    }

    /// Which of these commands are not found, or `nil`.
    package static func lack(of commands: [String]) -> String? {
        let missing = commands.filter { !location(of: $0).contains("/") }
        return missing.isEmpty ? nil : "missing commands: \(missing.joined(separator: " "))"
    }

    /// Why tests that change a network cannot run here, or `nil`.
    ///
    /// - Parameters:
    ///   - commands: Programmes that the tests call by their names.
    ///   - programs: Paths of executables that the build makes, and the variables that name others.
    package static func lack(
        of commands: [String], _ programs: [(path: String, variable: String)]
    ) -> String? {
        if getuid() != 0 { return "not root" }
        if let lack = lack(of: commands) { return lack }
        if access("/dev/net/tun", R_OK | W_OK) != 0 { return "no /dev/net/tun" }
        for program in programs where access(program.path, X_OK) != 0 {
            return "no executable \(program.path) (build it, or set \(program.variable))"
        }
        return nil
    }

    /// Whether the caller says that no test may be skipped.
    package static let skipsNothing = ProcessInfo.processInfo.environment["NEXUSGUARD_SKIP_NOTHING"] == "1"

    /// Whether nothing stands in the way of tests; prints once what does.
    package static func isReady(for tests: String, obstacle: String?) -> Bool {
        guard let obstacle else { return true }
        print("\(tests) are skipped: \(obstacle)")
        return false
    }

    /// The same, for tests that fail rather than being skipped where none may be.
    package static func mayRun(_ tests: String, obstacle: String?) -> Bool {
        isReady(for: tests, obstacle: obstacle) || skipsNothing
    }

    /// Whether tests can run that make network namespaces and interfaces; prints the reason once when they cannot.
    ///
    /// They run all the same where no test may be skipped.
    package static func canChangeNetworks(_ tests: String) -> Bool {
        mayRun(tests, obstacle: lack(of: ["ip", "nft", "ping", "sysctl"], []))
    }
}
