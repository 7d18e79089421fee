// SPDX-License-Identifier: MIT

internal import NexusGuardAgent

/// Why the arguments of the daemon make no sense.
enum DaemonOptionError: Error, Equatable, CustomStringConvertible {
    /// The option does not exist.
    case unknownOption(String)
    /// The option needs a value.
    case missingValue(String)
    /// The option takes no value.
    case surplusValue(String)
    /// The value is none that the option can have.
    case invalidValue(String, expected: String)
    /// There is something that is no option; not shown, it may be a token.
    case surplusArgument

    /// One sentence that names the culprit.
    var description: String {
        let sentence =
            switch self {
            case .unknownOption(let name): "'\(name)' is not an option"
            case .missingValue(let name): "\(name) needs a value"
            case .surplusValue(let name): "\(name) takes no value"
            case .invalidValue(let name, let expected): "\(name) must be \(expected)"
            case .surplusArgument: "there are no arguments besides options"
            }
        return "\(sentence); see nexusguard-agent --help"
    }
}

/// What the command line asks of the daemon.
struct DaemonOptions: Equatable {
    /// What the process does.
    enum Action: Equatable {
        /// Prints how it is used.
        case help
        /// Prints its version.
        case version
        /// Runs the agent.
        case run
    }

    /// What to do.
    var action = Action.run
    /// Where the agent keeps what it must remember.
    var stateDirectory = "/var/lib/nexusguard"
    /// Where the socket is, and what stands in for the state directory.
    var runtimeDirectory = "/run/nexusguard"
    /// The administrator's file.
    var configurationFile = AdministratorSettings.defaultPath
    /// The path of the socket; `nil` puts it into the runtime directory.
    var socket: String?
    /// The least important level that is logged; `nil` leaves it to the administrator's file.
    var logLevel: LogLevel?
    /// How the page is reached, as far as the command line says.
    var page = PageSettings()

    /// The text of `--help`.
    static let usage = """
        Usage: nexusguard-agent [OPTION]...

        Keeps this host's tunnel up: gets an identity from a control server, brings the tunnel up, tells the
        server so and follows its changes. Control it with nexusguard(1). It stays in the foreground.

          --state-dir DIR      what must be remembered (default /var/lib/nexusguard)
          --runtime-dir DIR    the socket, and what stands in for the state directory (default /run/nexusguard)
          --config FILE        the administrator's settings (default /etc/nexusguard/agent.conf)
          --socket FILE        the socket of the local interface (default agent.sock in the runtime directory)
          --log-level LEVEL    debug, info, warn or error
          --ui-listen ADDRESS:PORT   where the page listens (default 127.0.0.1:8451, or another free port)
          --ui-certificate FILE      its certificate in PEM
          --ui-key FILE              the certificate's private key in PEM
          --ui-password-file FILE    a password that opens the page without a link
          --ui-hosts NAME,...        names besides those of loopback under which browsers reach the page
          --ui-read-only             the page may look and change nothing
          --foreground         stay in the foreground, which is the only mode
          --version            print the version
          --help               print this text

        Environment:
          STATE_DIRECTORY, RUNTIME_DIRECTORY   the defaults of the first two options, as systemd sets them
          CREDENTIALS_DIRECTORY                a file nexusguard.token in it is the token of a new device
          NOTIFY_SOCKET, WATCHDOG_USEC         the service manager, as systemd sets them
          NEXUSGUARD_AEAD                      code that seals packets: auto, libsodium, composed, avx2, avx512

        """

    /// Reads the arguments.
    ///
    /// - Parameters:
    ///   - arguments: The arguments without the programme's name.
    ///   - environment: Gives the value of a variable.
    init(
        arguments: [String], environment: (String) -> String?
    ) throws(DaemonOptionError) {
        // systemd puts several directories into one variable, with colons between them.
        if let first = environment("STATE_DIRECTORY")?.split(separator: ":").first {
            stateDirectory = String(first)
        }
        if let first = environment("RUNTIME_DIRECTORY")?.split(separator: ":").first {
            runtimeDirectory = String(first)
        }
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-") else { throw .surplusArgument }
            let name = String(argument.prefix { $0 != "=" })
            let attached = argument.count > name.count ? String(argument.dropFirst(name.count + 1)) : nil
            switch name {
            case "-h", "--help", "--version", "--foreground", "-f", "--ui-read-only":
                guard attached == nil else { throw .surplusValue(name) }
                if name == "--ui-read-only" { page.isReadOnly = true }
                if name.hasSuffix("h") || name == "--help" { action = .help }
                if name == "--version" { action = .version }
                if action != .run { return }
            case "--state-dir", "--runtime-dir", "--config", "--socket", "--log-level", "--ui-listen",
                "--ui-certificate", "--ui-key", "--ui-password-file", "--ui-hosts":
                guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
                    throw .missingValue(name)
                }
                try set(name, value)
            default: throw .unknownOption(name)
            }
        }
    }

    /// The path of the socket.
    var socketPath: String { socket ?? "\(runtimeDirectory)/agent.sock" }

    private mutating func set(_ name: String, _ value: String) throws(DaemonOptionError) {
        switch name {
        case "--log-level":
            guard let level = LogLevel(rawValue: value.uppercased()) else {
                throw .invalidValue(name, expected: "debug, info, warn or error")
            }
            logLevel = level
        case "--ui-listen":
            guard let address = PageAddress(value) else {
                throw .invalidValue(name, expected: "a numeric address, with a port or without")
            }
            page.listen = address
        case "--ui-hosts":
            guard let hosts = PageSettings.hosts(parsing: value) else {
                throw .invalidValue(name, expected: "names of hosts with commas between them")
            }
            page.hosts = hosts
        default: try setPath(name, value)
        }
    }

    private mutating func setPath(_ name: String, _ value: String) throws(DaemonOptionError) {
        // The daemon's working directory means nothing to those who read its messages.
        guard value.hasPrefix("/") else { throw .invalidValue(name, expected: "an absolute path") }
        switch name {
        case "--state-dir": stateDirectory = value
        case "--runtime-dir": runtimeDirectory = value
        case "--config": configurationFile = value
        case "--ui-certificate": page.certificateFile = value
        case "--ui-key": page.keyFile = value
        case "--ui-password-file": page.passwordFile = value
        default: socket = value
        }
    }
}
