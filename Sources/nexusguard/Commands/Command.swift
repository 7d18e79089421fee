// SPDX-License-Identifier: MIT

internal import AgentCommandLine
internal import FoundationEssentials

/// One thing that the user asks for, with everything checked that can be without the daemon.
enum Command: Equatable {
    case help([String])
    case version(asksDaemon: Bool)
    case up(WaitOptions)
    case down
    case restart(WaitOptions)
    case refresh
    case status
    case watch
    case check(StatusCheck)
    case wait(WaitGoal, timeout: Duration?)
    case logs(LogOptions)
    case clearLogs
    case forwards
    case page(PageOptions)
    case provision(ProvisionOptions)
    case deprovision(isConfirmed: Bool)
    case hardwareIdentifier
    case reset(isConfirmed: Bool)
    case showSettings
    case getSetting(SettingName)
    case changeSettings([SettingChange])
    case showConfig
    case exportConfig(ExportOptions)
    case importConfig(ImportOptions)
    case netcheck
    case bugreport(output: String?)
    case cleanup(stateDirectory: String?, runtimeDirectory: String?)
    case completion(CompletionShell)
}

/// Whether a command returns at once, and how long it waits when it does not.
struct WaitOptions: Equatable {
    /// Whether it waits until the tunnel is connected.
    var waits: Bool
    /// The longest wait; `nil` for ever.
    var timeout: Duration?
}

/// A condition that `status --check` tests.
enum StatusCheck: String, CaseIterable {
    /// The daemon answers.
    case live
    /// The tunnel is connected.
    case ready
}

/// Which entries of the log are shown.
struct LogOptions: Equatable {
    /// Whether new entries follow.
    var follows = false
    /// Only entries after this.
    var since: Date?
    /// Only entries of this level or above, in lower case.
    var level: String?
    /// At most so many of the last ones.
    var count: Int?
}

/// How the page is opened.
struct PageOptions: Equatable {
    /// Whether the link is printed in place of opening a browser.
    var prints = false
    /// Whether whoever opens it may only look.
    var isReadOnly = false
    /// Where the page listens, as address and port; `nil` leaves it to the daemon.
    var listen: String?
}

/// Where a token comes from.
enum TokenSource: Equatable {
    /// Asked for on the terminal, or standard input when that is no terminal.
    case prompt
    /// The first line of a file.
    case file(String)
    /// The first line of standard input.
    case standardInput
    /// The daemon has it.
    case stored
}

/// How an identity is asked for.
struct ProvisionOptions: Equatable {
    /// The control server to set first.
    var server: String?
    /// Where the token comes from.
    var token: TokenSource
    /// The longest wait; `nil` for the default.
    var timeout: Duration?
}

/// One change of a setting.
enum SettingChange: Equatable {
    /// A text.
    case text(SettingName, String)
    /// Yes or no.
    case flag(SettingName, Bool)
    /// The default.
    case unset(SettingName)
}

/// How a configuration is written.
struct ExportOptions: Equatable {
    /// Whether keys are included, encrypted.
    var includesSecrets = false
    /// The file; `nil` for standard output.
    var output: String?
    /// The file with the passphrase; `nil` asks.
    var passphraseFile: String?
}

/// How a configuration is read.
struct ImportOptions: Equatable {
    /// The file; `nil` for standard input or the terminal.
    var file: String?
    /// Whether it applies without asking.
    var isConfirmed = false
    /// Whether it applies at all.
    var isDryRun = false
    /// The file with the passphrase; `nil` asks when one is needed.
    var passphraseFile: String?
}
