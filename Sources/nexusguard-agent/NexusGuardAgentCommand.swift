// SPDX-License-Identifier: MIT

internal import AgentCommandLine
internal import Glibc
internal import NexusGuardAgent

/// The daemon `nexusguard-agent`.
@main
enum NexusGuardAgentCommand {
    /// Reads the command line and does what it asks.
    static func main() {
        let environment = { (name: String) in getenv(name).map { String(cString: $0) } }
        let options: DaemonOptions
        do throws(UsageError) {
            options = try DaemonOptions(
                arguments: Array(CommandLine.arguments.dropFirst()), environment: environment)
        } catch {
            complain(error.description(of: DaemonCommand.root.name))
            exit(2)
        }
        switch options.action {
        case .help: print(DaemonCommand.help, terminator: "")
        case .version: print("nexusguard-agent \(AgentVersion.current)")
        case .completion(let shell): print(shell.script(for: DaemonCommand.root), terminator: "")
        case .run: exit(Daemon(options, environment: environment).run())
        }
    }

    /// Writes a sentence to standard error.
    static func complain(_ sentence: String) {
        let line = Array("nexusguard-agent: \(sentence)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}
