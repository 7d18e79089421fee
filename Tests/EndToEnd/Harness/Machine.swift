// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

extension Machine {
    /// Why the tests cannot run here, or `nil`.
    static let obstacle = lack(
        of: [
            "ip", "wg", "wg-quick", "wireguard-go", "ping", "iperf3", "socat", "tcpdump", "nft", "iptables",
            "ss", "sysctl", "strace", "nsenter", "setpriv", "sha256sum", "python3",
        ], [(Implementation.tested.path, "NEXUSGUARD_TUN")])

    /// The obstacle, as the comment of a skipped suite.
    static var skipReason: Comment { "\(obstacle ?? "nothing is missing")" }

    /// Whether the tests can run; prints the reason once when they cannot.
    static let isReady = isReady(for: "The end to end tests", obstacle: obstacle)
}
