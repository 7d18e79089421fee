// SPDX-License-Identifier: MIT

internal import AgentCommandLine

/// The commands of `nexusguard` and what each takes.
enum CommandTree {
    /// The whole table.
    static let root = CommandSpecification(
        "nexusguard", "control the NexusGuard agent of this host",
        notes: """
            Exit status: 0 done, 1 failed, 2 usage, 3 condition false, 4 daemon not reachable,
            5 not permitted, 6 not provisioned, 7 time-out, 8 refused by the server.
            """,
        options: globalOptions,
        commandGroups: [
            CommandGroup("Tunnel", daily), CommandGroup("Identity", identity),
            CommandGroup("Configuration", configuration), CommandGroup("Diagnosis", diagnosis),
            CommandGroup("Other", other),
        ],
        needsSubcommand: true)

    private static let globalOptions = [
        OptionSpecification("json", "print JSON with a \"schema\" number"),
        OptionSpecification("socket", takes: .file, "socket of the daemon"),
        OptionSpecification(
            "color", takes: .choice(["auto", "always", "never"]), "colours; auto also honours NO_COLOR"),
        OptionSpecification("version", "print the version"),
        OptionSpecification("help", letter: "h", "print help"),
    ]

    private static let timeout = OptionSpecification(
        "timeout", takes: .text("TIME"), "give up after this time, such as 30, 90s or 5m")
    private static let yes = OptionSpecification("yes", letter: "y", "do not ask")

    private static let daily = [
        CommandSpecification(
            "up", "bring the tunnel up and keep it up, over reboots too",
            options: [OptionSpecification("wait", letter: "w", "return only when it is connected"), timeout]),
        CommandSpecification("down", "take the tunnel down and keep it down"),
        CommandSpecification(
            "restart", "take the tunnel down and bring it up again",
            options: [OptionSpecification("wait", letter: "w", "return only when it is connected"), timeout]),
        CommandSpecification("refresh", "contact the control server now"),
        CommandSpecification(
            "status", "show what the agent does",
            details: """
                --watch shows a live view on a terminal, and one line for each change on a pipe.
                --check prints nothing but a word and sets the exit status: 0 when the daemon answers (live) or the
                tunnel is connected (ready), 3 when not, 4 when the daemon does not answer.
                """,
            options: [
                OptionSpecification("watch", letter: "w", "keep showing it"),
                OptionSpecification("check", takes: .choice(["live", "ready"]), "test a condition"),
            ]),
        CommandSpecification(
            "wait", "wait for a state, connected unless another is named", options: [timeout],
            arguments: [ArgumentSpecification(.choice(WaitGoal.allCases.map(\.rawValue)), isOptional: true)]),
        CommandSpecification(
            "logs", "show the log",
            details: """
                --since takes a time span such as 10m or 2h, a time of day (14:30), a date, or both
                (2026-01-31 14:30, or RFC 3339).
                """,
            options: [
                OptionSpecification("follow", letter: "f", "keep showing new entries"),
                OptionSpecification("since", takes: .text("TIME"), "only entries after this time"),
                OptionSpecification(
                    "level", takes: .choice(["debug", "info", "warn", "error"]),
                    "only entries of this level or above"),
                OptionSpecification(
                    "lines", letter: "n", takes: .text("COUNT"), "only the last COUNT entries"),
                OptionSpecification("clear", "forget all entries"),
            ]),
        CommandSpecification("forwards", "list the ports that the server forwards to this device"),
        CommandSpecification(
            "ui", "open the page of this host's agent in a browser",
            details: """
                The page is off until this command asks for it, and for this host alone. It opens with a link that
                works once, within two minutes. Without a display, over SSH and for root the link is printed, with
                the command that brings the page to another computer. An address beyond this host needs a
                certificate and a password in the agent's settings.
                """,
            options: [
                OptionSpecification("print", letter: "p", "print the link and open nothing"),
                OptionSpecification("read-only", "who opens it may look and change nothing"),
                OptionSpecification("listen", takes: .text("ADDRESS:PORT"), "where the page listens"),
            ]),
    ]

    private static let identity = [
        CommandSpecification(
            "provision", "get an identity from the control server with a token",
            details: """
                The token is asked for on the terminal, or read from standard input or a file; it is never an
                argument, because every user of the host can read those.
                """,
            options: [
                OptionSpecification(
                    "server", letter: "s", takes: .text("URL"), "set the control server first"),
                OptionSpecification(
                    "token-file", takes: .file, "read the token from a file (- is standard input)"),
                OptionSpecification("token-stdin", "read the token from standard input"),
                OptionSpecification("stored", "try again with the token that the daemon already has"),
                timeout,
            ],
            hidesArguments: true),
        CommandSpecification(
            "deprovision", "tell the server that this device is gone, and forget its identity",
            options: [yes]),
        CommandSpecification("hwid", "print the hardware identifier that tokens are bound to"),
        CommandSpecification(
            "reset", "forget identity, tunnel and settings of this device",
            details: "The control server is not told; use deprovision for that.", options: [yes]),
    ]

    private static let configuration = [
        CommandSpecification(
            "settings", "show or change the settings",
            details: "The settings are \(SettingName.all.joined(separator: ", ")).",
            subcommands: [
                CommandSpecification(
                    "get", "print the value of a setting",
                    arguments: [ArgumentSpecification(.word("KEY", among: SettingName.all))]),
                CommandSpecification(
                    "set", "change settings",
                    arguments: [ArgumentSpecification(.text("KEY=VALUE"), isRepeated: true)],
                    hidesArguments: true),
                CommandSpecification(
                    "unset", "give a setting its default",
                    arguments: [ArgumentSpecification(.word("KEY", among: SettingName.all))]),
            ]),
        CommandSpecification(
            "config", "show, export and import the configuration",
            subcommands: [
                CommandSpecification("show", "show the configuration without secrets"),
                CommandSpecification(
                    "export", "write the configuration to a file or standard output",
                    details: """
                        Without --with-secrets the keys are left out. With it the whole is encrypted under a
                        passphrase (Argon2id), which is asked for or read from a file.
                        """,
                    options: [
                        OptionSpecification("with-secrets", "include the keys, encrypted"),
                        OptionSpecification(
                            "output", letter: "o", takes: .file, "write to this file, readable by you only"),
                        passphraseFile,
                    ]),
                CommandSpecification(
                    "import", "read a configuration, show the difference, then apply it",
                    details: "Takes what export writes, the JSON of a tunnel, or a wg-quick file.",
                    options: importOptions, arguments: [ArgumentSpecification(.file)]),
                CommandSpecification(
                    "paste", "the same from standard input or the terminal", options: importOptions),
            ],
            needsSubcommand: true),
    ]

    private static let passphraseFile = OptionSpecification(
        "passphrase-file", takes: .file, "read the passphrase from a file")
    private static let importOptions = [
        yes, OptionSpecification("dry-run", "show the difference and apply nothing"), passphraseFile,
    ]

    private static let diagnosis = [
        CommandSpecification("netcheck", "test the way to the control server and the tunnel's endpoint"),
        CommandSpecification(
            "bugreport", "collect what is needed to find a fault, without secrets",
            options: [
                OptionSpecification(
                    "output", letter: "o", takes: .file, "write to this file (- is standard output)")
            ]),
        CommandSpecification(
            "cleanup", "undo what a daemon that was killed left on the host",
            details: "Works without the daemon, and only while none runs.",
            options: [
                OptionSpecification("state-dir", takes: .directory, "state directory of the daemon"),
                OptionSpecification("runtime-dir", takes: .directory, "runtime directory of the daemon"),
            ]),
    ]

    private static let other = [
        CommandSpecification(
            "completion", "print a completion script",
            arguments: [ArgumentSpecification(.choice(CompletionShell.allCases.map(\.rawValue)))]),
        CommandSpecification("version", "print the versions of command and daemon"),
    ]
}
