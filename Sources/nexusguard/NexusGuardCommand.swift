// SPDX-License-Identifier: MIT

internal import AgentCommandLine
internal import FoundationEssentials
internal import Glibc
internal import NexusGuardAgent

/// The command line of the agent, `nexusguard`.
@main
enum NexusGuardCommand {
    /// Reads the command line, does what it asks and ends with the exit status.
    @MainActor static func main() async {
        // A reader of a pipe that goes away is seen where it is written to.
        signal(SIGPIPE, SIG_IGN)
        setlocale(LC_CTYPE, "")
        do throws(UsageError) {
            let invocation = try ArgumentParser(root: CommandTree.root).parse(
                Array(CommandLine.arguments.dropFirst()))
            let command = try Command(invocation, now: Date())
            let runner = CommandRunner(invocation) { name in getenv(name).map { String(cString: $0) } }
            exit(await runner.run(command).rawValue)
        } catch {
            StandardStream.writeError(error.description(of: CommandTree.root.name))
            exit(ExitCode.usage.rawValue)
        }
    }
}
