// SPDX-License-Identifier: MIT

internal import AgentCommandLine
internal import NexusGuardAgent

/// What `nexusguard-agent` takes.
enum DaemonCommand {
    /// The table for parser, help and completion: options and no commands.
    static let root = CommandSpecification(
        "nexusguard-agent", "keep this host's tunnel up",
        details: """
            Gets an identity from a control server, brings the tunnel up, tells the server so and follows its changes.
            Control it with nexusguard(1). It stays in the foreground.
            """,
        notes: """
            Environment:
              STATE_DIRECTORY, RUNTIME_DIRECTORY   the defaults of the first two options, as systemd sets them
              CREDENTIALS_DIRECTORY                a file nexusguard.token in it is the token of a new device
              NOTIFY_SOCKET, WATCHDOG_USEC         the service manager, as systemd sets them
              NEXUSGUARD_AEAD                      code that seals packets: auto, libsodium, composed, avx2, avx512
            """,
        optionGroups: [
            OptionGroup("Places", places), OptionGroup("Page in browsers", page),
            OptionGroup("Other", other),
        ],
        // A token given by mistake must not reach the screen or a log.
        hidesArguments: true)

    /// The text of `--help`.
    static var help: String { HelpText(of: root).text(for: []) }

    private static let places = [
        OptionSpecification(
            "state-dir", takes: .directory, "what must be remembered (default /var/lib/nexusguard)"),
        OptionSpecification(
            "runtime-dir", takes: .directory,
            "the socket, and what stands in for the state directory\n(default /run/nexusguard)"),
        OptionSpecification(
            "config", takes: .file,
            "the administrator's settings (default \(AdministratorSettings.defaultPath))"),
        OptionSpecification(
            "socket", takes: .file,
            "the socket of the local interface\n(default agent.sock in the runtime directory)"),
    ]

    private static let page = [
        OptionSpecification(
            "ui-listen", takes: .text("ADDRESS:PORT"),
            "where the page listens\n(default 127.0.0.1:8451, or another free port)"),
        OptionSpecification("ui-certificate", takes: .file, "its certificate in PEM"),
        OptionSpecification("ui-key", takes: .file, "the certificate's private key in PEM"),
        OptionSpecification(
            "ui-password-file", takes: .file, "a password that opens the page without a link"),
        OptionSpecification(
            "ui-hosts", takes: .text("NAME,..."),
            "names besides those of loopback under which browsers\nreach the page"),
        OptionSpecification("ui-read-only", "the page may look and change nothing"),
    ]

    private static let other = [
        OptionSpecification("log-level", takes: .text("LEVEL"), "debug, info, warn or error"),
        OptionSpecification("foreground", letter: "f", "stay in the foreground, which is the only mode"),
        OptionSpecification(
            "completion", takes: .choice(CompletionShell.allCases.map(\.rawValue)),
            "print a completion script"),
        OptionSpecification("version", "print the version"),
        OptionSpecification("help", letter: "h", "print help"),
    ]
}
