// SPDX-License-Identifier: MIT

internal import Glibc
internal import NexusGuardControl

/// The programme `nexusguard-control`.
@main
enum Command {
    /// Reads the command line and does what it asks.
    static func main() async {
        let status = await ControlProgram.run(Array(CommandLine.arguments.dropFirst())) { name in
            getenv(name).map { String(cString: $0) }
        }
        exit(status)
    }
}
