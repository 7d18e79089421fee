// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import Glibc

/// The command line of the agent, `nexusguard`.
@main
enum NexusGuardCommand {
    /// Reads the command line, does what it asks and ends with the exit status.
    @MainActor static func main() async {
        // A reader of a pipe that goes away is seen where it is written to.
        signal(SIGPIPE, SIG_IGN)
        setlocale(LC_CTYPE, "")
        let arguments = Array(CommandLine.arguments.dropFirst())
        do throws(UsageError) {
            let invocation = try ArgumentParser(root: CommandTree.root).parse(arguments)
            let command = try Command(invocation, now: Date())
            exit(await run(command, invocation).rawValue)
        } catch {
            StandardStream.writeError(error.description)
            exit(ExitCode.usage.rawValue)
        }
    }
}

extension NexusGuardCommand {
    @MainActor private static func run(_ command: Command, _ invocation: Invocation) async -> ExitCode {
        switch command {
        case .help(let path): StandardStream.write(HelpText.text(for: path))
        case .completion(let shell): StandardStream.write(shell.script(for: CommandTree.root))
        default: return .daemonUnreachable
        }
        return .success
    }
}
