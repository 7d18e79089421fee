// SPDX-License-Identifier: MIT

package import AgentCommandLine

/// The commands of `nexusguard-control` and what each takes.
package enum ControlCommandTree {
    /// The whole table.
    package static let root = CommandSpecification(
        "nexusguard-control", "the control server of NexusGuard agents: tokens, devices, keys and forwards",
        notes: """
            DEVICE is an identifier, the first four or more characters of one, or the name of its token.
            The commands work while the server runs; it follows within a second.
            Run them as the user of the server: the state belongs to one user alone.

            Exit status: 0 done, 1 failed, 2 wrong command line, 3 no such token, device or forward, 4 in conflict
            with what is there.
            """,
        options: [
            OptionSpecification(
                "state-dir", takes: .directory,
                "where the state is (default $STATE_DIRECTORY, else /var/lib/nexusguard-control)"),
            OptionSpecification("json", "print JSON with a \"schema\" number"),
            OptionSpecification("version", "print the version"),
            OptionSpecification("help", letter: "h", "print help"),
        ],
        subcommands: [
            ServeCommandTree.serve, token, device,
            CommandSpecification(
                "rotate-keys", "give a device new keys with its next heartbeat",
                details: """
                    Makes a new key pair and preshared key. The device gets them with its next heartbeat; the server
                    accepts the old ones until the device has used the new ones. Other devices notice nothing.
                    """,
                arguments: [name]),
            forward,
            CommandSpecification(
                "completion", "print a completion script",
                arguments: [ArgumentSpecification(.choice(CompletionShell.allCases.map(\.rawValue)))]),
        ],
        needsSubcommand: true)

    private static let name = ArgumentSpecification(.text("DEVICE"))

    private static let token = CommandSpecification(
        "token", "the registration tokens",
        details: """
            A token lets one device ask for its identity. It has 256 random bits and is printed by 'token new' and
            never again: the server keeps only its digest. The first device that uses it is bound to it by its
            hardware identifier; that device may ask again and gets the same identity, any other is refused.
            """,
        subcommands: [
            CommandSpecification(
                "new", "make a registration token and print it, once",
                options: [
                    OptionSpecification("name", takes: .text("TEXT"), "a name for the token and its device"),
                    OptionSpecification(
                        "expires", takes: .text("TIME"),
                        "when the first use must have happened, such as 30m, 24h or 7d from now"),
                ],
                hidesArguments: true),
            CommandSpecification("list", "list the tokens", hidesArguments: true),
            CommandSpecification(
                "revoke", "take a token back; its device stays",
                details: """
                    Takes the ID that 'token list' shows, never the token. The device of the token, if there is one,
                    keeps its identity; 'device revoke' takes that.
                    """,
                arguments: [ArgumentSpecification(.text("ID"))], hidesArguments: true),
        ],
        needsSubcommand: true, hidesArguments: true)

    private static let device = CommandSpecification(
        "device", "the devices",
        details: "No command shows a private or preshared key.",
        subcommands: [
            CommandSpecification(
                "list", "list the devices",
                options: [
                    OptionSpecification("all", "with those that were revoked or gave their identity back")
                ]),
            CommandSpecification("show", "show one device", arguments: [name]),
            CommandSpecification(
                "revoke", "take a device's identity",
                details: """
                    Erases the keys of the device, frees its addresses and ends its token and forwards. The device is
                    told so when it asks next. It can only come back with a new token, as another device.
                    """,
                arguments: [name]),
        ],
        needsSubcommand: true)

    private static let forward = CommandSpecification(
        "forward", "the forwards that devices are told of",
        details: """
            Forwards are records that the server tells devices of. It does not forward packets itself: that is for
            the host's firewall.
            """,
        notes: """
            PROTOCOL is tcp or udp, PUBLIC_PORT the port of the server, and TARGET the PORT of the device itself or
            ADDRESS:PORT of a host behind it.
            """,
        subcommands: [
            CommandSpecification(
                "add", "add a forward",
                arguments: [name]
                    + ["PROTOCOL", "PUBLIC_PORT", "TARGET"].map { ArgumentSpecification(.text($0)) }),
            CommandSpecification(
                "rm", "remove a forward",
                arguments: ["PROTOCOL", "PUBLIC_PORT"].map { ArgumentSpecification(.text($0)) }),
            CommandSpecification(
                "list", "list the forwards of one device or of all",
                arguments: [ArgumentSpecification(.text("DEVICE"), isOptional: true)]),
        ],
        needsSubcommand: true)
}
