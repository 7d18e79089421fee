// SPDX-License-Identifier: MIT

internal import AgentCommandLine
internal import FoundationEssentials
internal import Glibc
internal import NexusGuardAgent

/// Does what a command asks for and says how it went.
struct CommandRunner {
    /// The daemon.
    let client: AgentClient
    /// Whether output is JSON.
    let isJSON: Bool
    /// How output for people looks.
    let style: Style
    /// Whether the output is a terminal that can be drawn on.
    let hasScreen: Bool

    /// Creates a runner out of the options that every command takes.
    ///
    /// - Parameter environment: Gives the value of a variable.
    init(_ invocation: Invocation, environment: (String) -> String?) {
        let given = invocation.last("socket") ?? environment("NEXUSGUARD_SOCKET")
        client = AgentClient(
            socket: given.flatMap { $0.isEmpty ? nil : $0 } ?? LocalAPI.defaultSocketPath,
            patience: environment("NEXUSGUARD_TIMEOUT").flatMap { TimeSpan.parse($0) }
                ?? AgentClient.defaultPatience)
        isJSON = invocation.has("json")
        let terminal = environment("TERM") ?? ""
        hasScreen =
            StandardStream.isTerminal(STDOUT_FILENO) && !terminal.isEmpty && terminal != "dumb"
        style = Style(
            choice: invocation.last("color") ?? "auto",
            isTerminal: StandardStream.isTerminal(STDOUT_FILENO), environment: environment)
    }

    /// Does it.
    @MainActor func run(_ command: Command) async -> ExitCode {
        do throws(ClientError) {
            return try await perform(command)
        } catch {
            return fail(error)
        }
    }

    @MainActor private func perform(_ command: Command) async throws(ClientError) -> ExitCode {
        switch command {
        case .help(let path): return show(HelpText(of: CommandTree.root).text(for: path))
        case .completion(let shell): return show(shell.script(for: CommandTree.root))
        case .version(let asksDaemon): return await version(asksDaemon: asksDaemon)
        case .up(let options): return try await up(options)
        case .down: return try await down()
        case .restart(let options): return try await restart(options)
        case .refresh: return try await refresh()
        case .status: return try await status()
        case .watch: return await watch()
        case .check(let condition): return try await check(condition)
        case .wait(let goal, let timeout): return await wait(for: goal, timeout: timeout)
        case .logs(let options): return try await logs(options)
        case .clearLogs: return try await clearLogs()
        case .forwards: return try await forwards()
        case .page(let options): return try await page(options)
        case .provision(let options): return try await provision(options)
        case .deprovision(let isConfirmed): return try await deprovision(isConfirmed: isConfirmed)
        case .hardwareIdentifier: return try await hardwareIdentifier()
        case .reset(let isConfirmed): return try await reset(isConfirmed: isConfirmed)
        case .showSettings: return try await showSettings()
        case .getSetting(let name): return try await getSetting(name)
        case .changeSettings(let changes): return try await changeSettings(changes)
        case .showConfig: return try await showConfig()
        case .exportConfig(let options): return try await exportConfig(options)
        case .importConfig(let options): return try await importConfig(options)
        case .netcheck: return try await netcheck()
        case .bugreport(let output): return try await bugreport(output: output)
        case .cleanup(let stateDirectory, let runtimeDirectory):
            return cleanup(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory)
        }
    }

    // MARK: Output

    /// Prints a text.
    @discardableResult func show(_ text: String) -> ExitCode {
        StandardStream.write(text) ? .success : .failure
    }

    /// Prints lines.
    @discardableResult func show(lines: [String]) -> ExitCode {
        show(lines.map { $0 + "\n" }.joined())
    }

    /// Prints a document of the daemon as it is, with a line end.
    @discardableResult func show(document: [UInt8]) -> ExitCode {
        let end: [UInt8] = document.last == UInt8(ascii: "\n") ? [] : [UInt8(ascii: "\n")]
        return StandardStream.write(document + end, to: STDOUT_FILENO) ? .success : .failure
    }

    /// Tells why something was not done, in the form that was asked for.
    func fail(_ error: ClientError) -> ExitCode {
        if isJSON {
            show(document: error.document)
        } else {
            StandardStream.writeError(error.description)
        }
        return error.exitCode
    }

    /// Tells why something was not done.
    func fail(_ code: ExitCode, _ sentence: String, code word: String) -> ExitCode {
        if isJSON {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("schema", AgentSnapshot.currentSchema)
            writer.name("error")
            writer.beginObject()
            writer.member("code", word)
            writer.member("message", sentence)
            writer.endObject()
            writer.endObject()
            show(document: writer.finish())
        } else {
            StandardStream.writeError(sentence)
        }
        return code
    }

    /// Reads a document of the daemon.
    func fields(_ document: [UInt8]) throws(ClientError) -> JSONFields {
        do {
            return try JSONFields(parsing: document, limit: 16 << 20)
        } catch {
            throw .malformed(error.description)
        }
    }

    /// Writes an object of one member.
    static func body(_ name: String, _ value: Bool) -> [UInt8] {
        Array(#"{"\#(name)":\#(value)}"#.utf8)
    }
}
