// SPDX-License-Identifier: MIT

internal import AgentCommandLine

/// The options of `nexusguard-control serve`.
enum ServeCommandTree {
    /// The command.
    static let serve = CommandSpecification(
        "serve", "run the server",
        usage: "--endpoint HOST:PORT (--with-tunnel | --public-key KEY) [OPTION]...",
        notes: """
            When the server is ready it prints its addresses to standard output. SIGTERM and SIGINT end it. The log
            goes to standard error.

            The state, control.db (0600), holds digests of tokens, and in the clear the server's and the devices'
            WireGuard keys and the key that each device's requests are proved with: the server hands keys out with
            every heartbeat, so it must have them. Protect it, and backups of it, as you would a private key.
            """,
        optionGroups: [
            OptionGroup("Requests", requests), OptionGroup("What devices are told", told),
            OptionGroup("The WireGuard server", tunnel), OptionGroup("The log", log),
            OptionGroup("For tests", tests),
        ])

    private static func text(_ name: String, _ value: String, _ summary: String) -> OptionSpecification {
        OptionSpecification(name, takes: .text(value), summary)
    }

    private static let requests = [
        text("listen", "ADDRESS:PORT", "where to listen, repeatable (default 127.0.0.1:8443)"),
        OptionSpecification("tls-cert", takes: .file, "certificate in PEM, with those that sign it"),
        OptionSpecification("tls-key", takes: .file, "its key in PEM"),
        text(
            "host-name", "NAME",
            """
            a name or address in the development certificate, repeatable; the server
            makes that certificate, and keeps it, when none is given
            """),
        OptionSpecification(
            "export-ca", takes: .file, "copy the development certificate there, for clients to trust"),
        OptionSpecification("http", "no TLS; only on loopback addresses"),
        OptionSpecification(
            "allow-plain-http", "no TLS on other addresses too: keys may cross the network in the clear"),
        text("provisions-per-minute", "N", "for each address (default 5)"),
        OptionSpecification("allow-unauthenticated", "answer devices that do not prove who they are"),
        OptionSpecification(
            "allow-plain-answers",
            """
            answer heartbeats of devices that do not ask for an answer encrypted
            under their key
            """),
    ]

    private static let told = [
        text("endpoint", "HOST:PORT", "where they reach the WireGuard server"),
        text("public-key", "KEY", "the key of a WireGuard server elsewhere"),
        text(
            "pool", "PREFIX",
            """
            where their addresses come from, one for each family, repeatable
            (default 10.172.21.0/24)
            """),
        text(
            "server-address", "ADDRESS",
            "the server's address in a pool, repeatable (default the first)"),
        text("allowed-ips", "PREFIXES", "what they send through the tunnel (default the pools)"),
        text("dns", "ADDRESSES", "their name servers, at most four"),
        text("mtu", "N", "their MTU (default: they choose)"),
        text("keepalive", "SECONDS", "their keepalive interval (default 25)"),
        text("heartbeat-interval", "TIME", "1s to 1h (default: they choose)"),
        text("admin-url", "URL", "a page for administrators"),
        OptionSpecification("no-preshared-keys", "new devices and new keys have none"),
        OptionSpecification("forwards-in-heartbeats", "heartbeats carry the forwards, not only their hash"),
    ]

    private static let tunnel = [
        OptionSpecification(
            "with-tunnel",
            """
            be it, in this process; needs CAP_NET_ADMIN. Devices are added, removed
            and given new keys while it runs. Routing beyond the interface, such as
            to the Internet or between hosts, is for the host's own settings
            """),
        text("interface", "NAME", "its interface (default ngcontrol0)"),
        text("listen-port", "PORT", "its UDP port (default that of --endpoint)"),
    ]

    private static let log = [
        text("log-level", "LEVEL", "debug, info (default), warn or error")
    ]

    private static let tests = [
        text(
            "fault", "FAULT",
            """
            something that goes wrong, repeatable:
            KIND[=VALUE][@provision|@heartbeat|@forwards|@deprovision][*COUNT], with KIND
              delay=TIME             the answer comes later
              drop, drop-after       no answer; the request is not carried out, or is
              status=N               this status; retry-after=VALUE adds that field
                                     (alone: status 503)
              garbage, html          random bytes, or a page as of a captive portal
              redirect=URL           status 302
              oversize=BYTES         a well-formed answer that is too large
              truncate               the connection closes in the middle of the answer
              wrong-tag, wrong-key   an encrypted answer that cannot be opened; others
                                     stay as they are
              other-device           the answer is for another device
              bad-field=NAME         this field of the answer makes no sense
              rotate-every=N         new keys with every N-th heartbeat of a device
            """),
        OptionSpecification(
            "fault-file", takes: .file,
            """
            further faults, one a line, # begins a comment line; read anew when it
            changes
            """),
    ]
}
