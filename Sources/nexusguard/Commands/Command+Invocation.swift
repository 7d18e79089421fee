// SPDX-License-Identifier: MIT

internal import AgentCommandLine
internal import FoundationEssentials

extension Command {
    /// Makes sense of a command line that has been taken apart.
    ///
    /// - Parameter now: What spans of time are counted back from.
    /// - Throws: `UsageError`.
    init(_ invocation: Invocation, now: Date) throws(UsageError) {
        if invocation.wantsHelp {
            self = .help(invocation.path)
            return
        }
        guard !invocation.has("version"), let name = invocation.path.first else {
            self = .version(asksDaemon: false)
            return
        }
        switch name {
        case "up": self = .up(try Self.waitOptions(invocation))
        case "down": self = .down
        case "restart": self = .restart(try Self.waitOptions(invocation))
        case "refresh": self = .refresh
        case "status": self = try Self.status(invocation)
        case "wait":
            let goal = invocation.arguments.first.flatMap(WaitGoal.init(rawValue:)) ?? .connected
            self = .wait(goal, timeout: try Self.timeout(invocation))
        case "logs": self = try Self.logs(invocation, now: now)
        case "forwards": self = .forwards
        case "ui": self = .page(try Self.page(invocation))
        case "provision": self = .provision(try Self.provision(invocation))
        case "deprovision": self = .deprovision(isConfirmed: invocation.has("yes"))
        case "hwid": self = .hardwareIdentifier
        case "reset": self = .reset(isConfirmed: invocation.has("yes"))
        case "settings": self = try Self.settings(invocation)
        case "config": self = try Self.config(invocation)
        case "netcheck": self = .netcheck
        case "bugreport": self = .bugreport(output: invocation.last("output"))
        case "cleanup":
            self = .cleanup(
                stateDirectory: invocation.last("state-dir"),
                runtimeDirectory: invocation.last("runtime-dir"))
        case "completion":
            // The parser let only shells of the table through.
            self = .completion(invocation.arguments.first.flatMap(CompletionShell.init(rawValue:)) ?? .bash)
        default: self = .version(asksDaemon: true)
        }
    }

    private static func timeout(_ invocation: Invocation) throws(UsageError) -> Duration? {
        guard let text = invocation.last("timeout") else { return nil }
        guard let span = TimeSpan.parse(text), span > .zero else {
            throw .invalidValue(
                of: "--timeout", expected: "a time span such as 30, 90s or 5m", path: invocation.path)
        }
        return span
    }

    private static func waitOptions(_ invocation: Invocation) throws(UsageError) -> WaitOptions {
        let timeout = try timeout(invocation)
        return WaitOptions(waits: invocation.has("wait") || timeout != nil, timeout: timeout)
    }

    private static func status(_ invocation: Invocation) throws(UsageError) -> Command {
        let watches = invocation.has("watch")
        guard let check = invocation.last("check").flatMap(StatusCheck.init(rawValue:)) else {
            return watches ? .watch : .status
        }
        guard !watches else { throw .conflict("--watch", "--check", path: invocation.path) }
        return .check(check)
    }

    private static func logs(_ invocation: Invocation, now: Date) throws(UsageError) -> Command {
        var options = LogOptions()
        options.follows = invocation.has("follow")
        options.level = invocation.last("level")
        if let text = invocation.last("since") {
            guard let since = TimeArguments.instant(text, now: now) else {
                throw .invalidValue(
                    of: "--since", expected: "a time span, a time of day, a date or both",
                    path: invocation.path)
            }
            options.since = since
        }
        if let text = invocation.last("lines") {
            guard let count = Int(text), (0...1_000_000).contains(count) else {
                throw .invalidValue(of: "--lines", expected: "a number", path: invocation.path)
            }
            options.count = count
        }
        guard invocation.has("clear") else { return .logs(options) }
        guard options == LogOptions() else {
            throw .conflict("--clear", "an option that shows entries", path: invocation.path)
        }
        return .clearLogs
    }

    private static func page(_ invocation: Invocation) throws(UsageError) -> PageOptions {
        let listen = invocation.last("listen")
        if let listen {
            let colon = listen.lastIndex(of: ":") ?? listen.endIndex
            guard colon > listen.startIndex, UInt16(listen[colon...].dropFirst()) != nil else {
                throw .invalidValue(
                    of: "--listen", expected: "ADDRESS:PORT or [ADDRESS]:PORT", path: invocation.path)
            }
        }
        return PageOptions(
            prints: invocation.has("print"), isReadOnly: invocation.has("read-only"),
            listen: listen)
    }

    private static func provision(_ invocation: Invocation) throws(UsageError) -> ProvisionOptions {
        var sources: [TokenSource] = []
        if let file = invocation.last("token-file") {
            sources.append(file == "-" ? .standardInput : .file(file))
        }
        if invocation.has("token-stdin") { sources.append(.standardInput) }
        if invocation.has("stored") { sources.append(.stored) }
        guard sources.count <= 1 else {
            throw .other(
                "only one of --token-file, --token-stdin and --stored is possible", path: invocation.path)
        }
        return ProvisionOptions(
            server: invocation.last("server"), token: sources.first ?? .prompt,
            timeout: try timeout(invocation))
    }

    private static func settings(_ invocation: Invocation) throws(UsageError) -> Command {
        let names = invocation.arguments.compactMap(SettingName.init(rawValue:))
        switch invocation.path.dropFirst().first {
        case "get": return names.first.map { .getSetting($0) } ?? .showSettings
        case "unset": return .changeSettings(names.map { .unset($0) })
        case "set":
            var changes: [SettingChange] = []
            for argument in invocation.arguments {
                changes.append(try SettingChange(argument, path: invocation.path))
            }
            return .changeSettings(changes)
        default: return .showSettings
        }
    }

    private static func config(_ invocation: Invocation) throws(UsageError) -> Command {
        let passphraseFile = invocation.last("passphrase-file")
        switch invocation.path.dropFirst().first {
        case "export":
            let includesSecrets = invocation.has("with-secrets")
            guard includesSecrets || passphraseFile == nil else {
                throw .other("--passphrase-file needs --with-secrets", path: invocation.path)
            }
            return .exportConfig(
                ExportOptions(
                    includesSecrets: includesSecrets, output: invocation.last("output"),
                    passphraseFile: passphraseFile))
        case "import", "paste":
            let file = invocation.arguments.first
            return .importConfig(
                ImportOptions(
                    file: file == "-" ? nil : file, isConfirmed: invocation.has("yes"),
                    isDryRun: invocation.has("dry-run"), passphraseFile: passphraseFile))
        default: return .showConfig
        }
    }
}

extension SettingChange {
    /// Reads `KEY=VALUE`. No error repeats the value.
    init(_ text: String, path: [String]) throws(UsageError) {
        let key = String(text.prefix { $0 != "=" })
        guard let name = SettingName(rawValue: key) else {
            throw .other(
                "there is no setting of that name; the settings are \(SettingName.all.joined(separator: ", "))",
                path: path)
        }
        guard text.count > key.count else {
            throw .invalidValue(of: key, expected: "followed by = and a value", path: path)
        }
        let value = String(text.dropFirst(key.count + 1))
        switch name.kind {
        case .text: self = .text(name, value)
        case .flag:
            switch value.lowercased() {
            case "true", "yes", "on", "1": self = .flag(name, true)
            case "false", "no", "off", "0": self = .flag(name, false)
            default: throw .invalidValue(of: key, expected: "true or false", path: path)
            }
        }
    }
}
