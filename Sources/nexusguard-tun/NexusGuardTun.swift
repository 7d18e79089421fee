// SPDX-License-Identifier: MIT

internal import Glibc

/// The daemon `nexusguard-tun`.
@main
enum NexusGuardTun {
    /// What `--version` prints.
    static let version = "nexusguard-tun 0.1.0"

    /// Reads the command line and does what it asks.
    static func main() {
        let options: CommandLineOptions
        do {
            options = try CommandLineOptions(arguments: Array(CommandLine.arguments.dropFirst())) { name in
                getenv(name).map { String(cString: $0) }
            }
        } catch {
            StandardOutput.writeError(error.description)
            exit(1)
        }
        switch options.action {
        case .help: StandardOutput.write(CommandLineOptions.usage)
        case .version: StandardOutput.write(version + "\n")
        case .run: exit(Daemon(options).run())
        }
    }
}
