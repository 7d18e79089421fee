// SPDX-License-Identifier: MIT

internal import NexusGuardAgent

/// What a reason or an item of health means for the user, and what can be done about it.
///
/// The page has the same titles; where its sentences name a switch, these name a command.
struct Help: Equatable {
    /// A few words.
    let title: String
    /// What to do.
    let text: String

    private init(_ title: String, _ text: String) {
        self.title = title
        self.text = text
    }

    /// Both in a line.
    var sentence: String { "\(title). \(text)" }

    /// The help for a code; `nil` where nothing is known that helps.
    init?(code: String) {
        guard let help = Self.ofAgent(code) ?? Self.ofServer(code) else { return nil }
        self = help
    }

    /// The help for what matters most: the reason, and while the tunnel is as wanted the first item of health.
    init?(_ snapshot: AgentSnapshot) {
        let reason = snapshot.reason?.code
        let code: String?
        if !snapshot.provisioned, snapshot.phase == .stopped,
            (reason ?? HealthCode.stopped) == HealthCode.stopped
        {
            code = AgentError.notProvisioned.code
        } else if reason != nil || snapshot.state != .connected {
            code = reason
        } else {
            code = snapshot.health.first { Help(code: $0.code) != nil }?.code
        }
        guard let code else { return nil }
        self.init(code: code)
    }

    private static func ofAgent(_ code: String) -> Help? {
        switch code {
        case HealthCode.stopped: Help("The tunnel is off", "'nexusguard up' brings it up.")
        case "not-provisioned":
            Help(
                "Set this device up",
                "Get a token from the server's administrator, then run 'nexusguard provision --server URL'.")
        case HealthCode.offline, "network-offline":
            Help(
                "No network",
                "Connect this host to a network. The agent goes on by itself as soon as a route appears.")
        case "clock-skew":
            Help(
                "Set the clock of this host",
                """
                The server refuses requests whose time is far from its own. Turn on the synchronisation of time: \
                timedatectl set-ntp true
                """)
        case "config-invalid":
            Help(
                "A configuration cannot be used",
                "What came before is still in use. Correct the field that is named here, or tell the administrator."
            )
        case "tunnel-failed":
            Help(
                "The tunnel cannot be brought up",
                """
                The agent needs /dev/net/tun and the right to change the network (CAP_NET_ADMIN). \
                'nexusguard logs' has more.
                """)
        case "secret-store":
            Help(
                "The agent cannot store anything",
                "Check that the disk is not full and that /var/lib/nexusguard can be written.")
        case HealthCode.storeDegraded:
            Help(
                "The agent cannot store anything",
                """
                It goes on, but forgets its identity with the next start of the host. Check that the disk is not \
                full and that /var/lib/nexusguard can be written.
                """)
        case "store-unusable":
            Help("A stored file cannot be used", "What is written here says which one it is and what helps.")
        case HealthCode.machineIDChanged:
            Help(
                "This disk seems to be a copy",
                "Two hosts with one identity disturb each other. On a copy run: nexusguard reset")
        default: nil
        }
    }

    private static func ofServer(_ code: String) -> Help? {
        switch code {
        case "captive-portal":
            Help(
                "Log in to this network",
                """
                A login page answers in place of the server, as in hotels and trains. Open any web site in a \
                browser on this host, log in there, then run 'nexusguard refresh'.
                """)
        case "heartbeat-failed", "provisioning-failed":
            Help(
                "The control server cannot be reached",
                """
                The agent keeps asking and goes on with what it has. If this lasts, 'nexusguard netcheck' tests \
                the way to the server.
                """)
        case "server-rejected":
            Help(
                "The control server has a fault",
                "The agent keeps asking. If this lasts, tell the server's administrator what is written here."
            )
        case "rate-limited":
            Help(
                "The control server is busy",
                "Nothing is to be done: the agent asks again when the server allows it.")
        case "tls":
            Help(
                "The control server's certificate is not trusted",
                """
                Check the server's address ('nexusguard settings'). A server with a certificate of its own needs \
                ca_file in /etc/nexusguard/agent.conf.
                """)
        case HealthCode.handshakeStale:
            Help(
                "The other end of the tunnel is silent",
                """
                The agent keeps trying and looks the server up anew. If this lasts, check that no firewall stops \
                UDP to the endpoint: 'nexusguard netcheck'.
                """)
        case "handshake-timeout":
            Help(
                "The other end of the tunnel does not answer",
                """
                The agent keeps trying. If this lasts, check that no firewall stops UDP to the endpoint: \
                'nexusguard netcheck'.
                """)
        case "unauthorized":
            Help(
                "The server refuses this device",
                "Ask the server's administrator for a new token, then run 'nexusguard provision'.")
        case "revoked":
            Help(
                "The server has removed this device",
                "To join again, ask the server's administrator for a new token, then run 'nexusguard provision'."
            )
        case "decryption-failed":
            Help(
                "The server's answer does not fit this device",
                """
                The token may have been made for another host. Ask the server's administrator for a new one, then \
                run 'nexusguard provision'.
                """)
        case "identity-mismatch":
            Help(
                "The server answers for another device",
                "This device keeps its own identity. Tell the server's administrator what is written here.")
        case HealthCode.rolledBack:
            Help(
                "A new configuration did not work",
                "The one before it is in use again. Tell the server's administrator.")
        default: nil
        }
    }
}
