// SPDX-License-Identifier: MIT

internal import AgentCommandLine
internal import NexusGuardAgent

/// What the command line asks of the daemon.
struct DaemonOptions: Equatable {
    /// What the process does.
    enum Action: Equatable {
        /// Prints how it is used.
        case help
        /// Prints its version.
        case version
        /// Prints a completion script.
        case completion(CompletionShell)
        /// Runs the agent.
        case run
    }

    /// What to do.
    let action: Action
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

    /// Reads the arguments.
    ///
    /// Values are checked only where the agent is to run.
    ///
    /// - Parameters:
    ///   - arguments: The arguments without the programme's name.
    ///   - environment: Gives the value of a variable.
    init(
        arguments: [String], environment: (String) -> String?
    ) throws(UsageError) {
        let invocation = try ArgumentParser(root: DaemonCommand.root).parse(arguments)
        action = Self.action(invocation)
        guard action == .run else { return }
        // systemd puts several directories into one variable, with colons between them.
        func managed(_ name: String) -> String? {
            environment(name)?.split(separator: ":").first.map(String.init)
        }
        stateDirectory = try invocation.path(of: "state-dir") ?? managed("STATE_DIRECTORY") ?? stateDirectory
        runtimeDirectory =
            try invocation.path(of: "runtime-dir") ?? managed("RUNTIME_DIRECTORY") ?? runtimeDirectory
        configurationFile = try invocation.path(of: "config") ?? configurationFile
        socket = try invocation.path(of: "socket")
        logLevel = try invocation.value(of: "log-level", "debug, info, warn or error") {
            LogLevel(rawValue: $0.uppercased())
        }
        page = try PageSettings(invocation)
    }

    /// The path of the socket.
    var socketPath: String { socket ?? "\(runtimeDirectory)/agent.sock" }

    private static func action(_ invocation: Invocation) -> Action {
        if invocation.wantsHelp { return .help }
        if invocation.has("version") { return .version }
        return invocation.last("completion").flatMap(CompletionShell.init(rawValue:)).map(Action.completion)
            ?? .run
    }
}

extension PageSettings {
    /// Reads the options that begin with `--ui-`.
    fileprivate init(_ invocation: Invocation) throws(UsageError) {
        self.init()
        listen = try invocation.value(of: "ui-listen", "a numeric address, with a port or without") {
            PageAddress($0)
        }
        hosts = try invocation.value(of: "ui-hosts", "names of hosts with commas between them") {
            PageSettings.hosts(parsing: $0)
        }
        certificateFile = try invocation.path(of: "ui-certificate")
        keyFile = try invocation.path(of: "ui-key")
        passwordFile = try invocation.path(of: "ui-password-file")
        isReadOnly = invocation.has("ui-read-only") ? true : nil
    }
}

extension Invocation {
    /// The value of an option, as `read` understands it.
    fileprivate func value<Value>(
        of name: String, _ expected: String, _ read: (String) -> Value?
    ) throws(UsageError) -> Value? {
        guard let text = last(name) else { return nil }
        guard !text.isEmpty else { throw .missingValue(option: "--\(name)", path: path) }
        guard let value = read(text) else {
            throw .invalidValue(of: "--\(name)", expected: expected, path: path)
        }
        return value
    }

    /// The value of an option that is a path: the daemon's working directory means nothing to those who read
    /// its messages.
    fileprivate func path(of name: String) throws(UsageError) -> String? {
        try value(of: name, "an absolute path") { $0.hasPrefix("/") ? $0 : nil }
    }
}
