// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

extension Machine {
    /// Why the tests cannot run here, or `nil`.
    static let obstacle = lack(
        of: ["ip", "ping", "tcpdump", "nft", "ss", "sysctl", "setpriv", "unshare", "bash", "python3"],
        [
            (Program.agent, "NEXUSGUARD_AGENT"), (Program.soak, "NEXUSGUARD_AGENT_SOAK"),
            (Program.command, "NEXUSGUARD_COMMAND"), (Program.control, "NEXUSGUARD_CONTROL"),
        ])

    /// The obstacle, as the comment of a skipped suite.
    static var skipReason: Comment { "\(obstacle ?? "nothing is missing")" }

    /// Whether the tests can run; prints the reason once when they cannot.
    static let isReady = isReady(for: "The agent's end to end tests", obstacle: obstacle)
}
