// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Testing

/// What this machine offers to the tests.
enum Machine {
    /// Where commands are looked for: an ordinary user's `PATH` lacks the system folders.
    static let path =
        (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin") + ":/usr/local/sbin:/usr/sbin:/sbin"

    /// The full path of a command, or the name itself when it is not found.
    static func location(of command: String) -> String {
        guard !command.contains("/") else { return command }
        for folder in path.split(separator: ":") {
            let candidate = "\(folder)/\(command)"
            if access(candidate, X_OK) == 0 { return candidate }
        }
        return command
    }

    /// Why the tests cannot run here, or `nil`.
    static let obstacle: String? = {
        if getuid() != 0 { return "not root" }
        let commands = ["ip", "ping", "tcpdump", "nft", "sysctl", "setpriv", "bash"]
        let missing = commands.filter { !location(of: $0).contains("/") }
        if !missing.isEmpty { return "missing commands: \(missing.joined(separator: " "))" }
        if access("/dev/net/tun", R_OK | W_OK) != 0 { return "no /dev/net/tun" }
        let programs = [Program.agent, Program.command, Program.control]
        if let absent = programs.first(where: { access($0, X_OK) != 0 }) {
            return "no executable \(absent) (build it, or set NEXUSGUARD_AGENT, _COMMAND and _CONTROL)"
        }
        return nil
    }()

    /// The obstacle, as the comment of a skipped suite.
    static var skipReason: Comment { "\(obstacle ?? "nothing is missing")" }

    /// Whether the tests can run; prints the reason once when they cannot.
    static let isReady: Bool = {
        guard let obstacle else { return true }
        print("The agent's end to end tests are skipped: \(obstacle)")
        return false
    }()
}
