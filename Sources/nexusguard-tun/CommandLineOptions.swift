// SPDX-License-Identifier: MIT

/// What the arguments and the environment ask of the daemon.
struct CommandLineOptions: Equatable {
    /// What the daemon does.
    enum Action: Equatable {
        /// Prints how it is used.
        case help
        /// Prints its version.
        case version
        /// Runs a tunnel.
        case run
    }

    /// How much is logged.
    enum LogLevel: Equatable {
        /// Nothing.
        case silent
        /// Only what went wrong.
        case error
        /// Every event.
        case verbose
    }

    /// What to do.
    var action: Action
    /// The interface's name; empty unless a tunnel is to run.
    var interfaceName = ""
    /// Whether the process stays in the foreground.
    var isForeground = false
    /// How much is logged.
    var logLevel = LogLevel.error
    /// Whether a background process keeps its output, because the environment asked for a log.
    var keepsOutput = false
    /// A TUN descriptor to adopt (`WG_TUN_FD`).
    var tunDescriptor: Int32?
    /// A listening socket to adopt (`WG_UAPI_FD`).
    var controlDescriptor: Int32?
    /// The directory of files that outlive the process; `nil` keeps none.
    var stateDirectory: String? = CommandLineOptions.defaultStateDirectory

    /// Whether the thread that moves packets runs ahead of other programs.
    var runsAhead = true

    /// Where files that outlive the process are kept unless `NEXUSGUARD_STATE_DIRECTORY` says otherwise.
    static let defaultStateDirectory = "/var/lib/nexusguard-tun"

    /// The text of `--help`.
    static let usage = """
        Usage: nexusguard-tun [-f|--foreground] INTERFACE
               nexusguard-tun --version
               nexusguard-tun --help

        Runs a WireGuard tunnel interface; configure it with wg(8) and ip(8), or let wg-quick(8) do both.

          -f, --foreground   stay in the foreground
              --version      print the version
          -h, --help         print this text

        Environment:
          LOG_LEVEL                    verbose (or debug), error (the default) or silent
          WG_TUN_FD                    descriptor of an open TUN interface to use
          WG_UAPI_FD                   descriptor of a listening control socket to use
          WG_PROCESS_FOREGROUND        1 stays in the foreground
          NEXUSGUARD_AEAD              code that seals packets: auto, libsodium, composed, avx2, avx512
          NEXUSGUARD_STATE_DIRECTORY   where the highest handshake timestamp is kept; empty keeps none
                                       (default /var/lib/nexusguard-tun)
          NEXUSGUARD_SCHEDULING        ahead (the default): a busy daemon moves its packets ahead of other
                                       programs; shared: in line with them

        """

    /// Reads arguments and environment.
    ///
    /// - Parameters:
    ///   - arguments: The arguments without the programme's name.
    ///   - environment: Gives the value of a variable.
    /// - Throws: `CommandLineError`.
    init(
        arguments: [String], environment: (String) -> String?
    ) throws(CommandLineError) {
        action = .run
        var name: String?
        var takesOptions = true
        for argument in arguments {
            if takesOptions, argument.hasPrefix("-"), argument != "-" {
                switch argument {
                case "-h", "--help":
                    action = .help
                    return
                case "--version":
                    action = .version
                    return
                case "-f", "--foreground": isForeground = true
                case "--": takesOptions = false
                default: throw .unknownOption(argument)
                }
            } else {
                guard name == nil else { throw .surplusArgument(argument) }
                name = argument
            }
        }
        guard let name else { throw .missingName }
        interfaceName = name
        try readEnvironment(environment)
    }

    /// Reads the variables that matter to a run.
    private mutating func readEnvironment(_ environment: (String) -> String?) throws(CommandLineError) {
        if environment("WG_PROCESS_FOREGROUND") == "1" { isForeground = true }
        switch environment("LOG_LEVEL") {
        case "verbose", "debug": logLevel = .verbose
        case "silent": logLevel = .silent
        default: logLevel = .error
        }
        keepsOutput = logLevel != .silent && !(environment("LOG_LEVEL") ?? "").isEmpty
        tunDescriptor = try Self.descriptor("WG_TUN_FD", environment)
        controlDescriptor = try Self.descriptor("WG_UAPI_FD", environment)
        if let directory = environment("NEXUSGUARD_STATE_DIRECTORY") {
            stateDirectory = directory.isEmpty ? nil : directory
        }
        switch environment("NEXUSGUARD_SCHEDULING") {
        case nil, "", "ahead": runsAhead = true
        case "shared": runsAhead = false
        case .some(let value): throw .invalidScheduling(value)
        }
    }

    /// Reads a variable that holds the number of a descriptor.
    private static func descriptor(
        _ variable: String, _ environment: (String) -> String?
    ) throws(CommandLineError) -> Int32? {
        guard let text = environment(variable), !text.isEmpty else { return nil }
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int32(text) else {
            throw .invalidDescriptor(variable: variable, value: text)
        }
        return number
    }
}
