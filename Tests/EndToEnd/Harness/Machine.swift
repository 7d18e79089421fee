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
        let commands = [
            "ip", "wg", "wg-quick", "wireguard-go", "ping", "iperf3", "socat", "tcpdump", "nft", "iptables",
            "ss", "sysctl", "strace", "nsenter", "setpriv", "sha256sum", "python3",
        ]
        let missing = commands.filter { !location(of: $0).contains("/") }
        if !missing.isEmpty { return "missing commands: \(missing.joined(separator: " "))" }
        if access("/dev/net/tun", R_OK | W_OK) != 0 { return "no /dev/net/tun" }
        if access(Implementation.tested.path, X_OK) != 0 {
            return "no executable \(Implementation.tested.path) (build it, or set NEXUSGUARD_TUN)"
        }
        return nil
    }()

    /// The obstacle, as the comment of a skipped suite.
    static var skipReason: Comment { "\(obstacle ?? "nothing is missing")" }

    /// Whether the tests can run; prints the reason once when they cannot.
    static let isReady: Bool = {
        guard let obstacle else { return true }
        print("The end to end tests are skipped: \(obstacle)")
        return false
    }()
}
