// SPDX-License-Identifier: MIT

import Foundation
import NexusGuardControl
import Synchronization
import Testing

/// Runs commands on a state directory, in this process.
final class CommandBench: Sendable {
    /// What a command left behind.
    struct Result {
        let status: Int32
        let output: String
        let errors: String

        /// The output as a JSON object.
        var object: [String: Any] {
            get throws {
                try #require(JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
            }
        }
    }

    let directory: String
    let clock = TestClock()

    init(directory: String) {
        self.directory = directory
    }

    /// Runs a command.
    func run(_ arguments: String...) async -> Result {
        await run(arguments)
    }

    /// Runs a command.
    func run(_ arguments: [String]) async -> Result {
        let sink = Sink()
        let status = await ControlProgram.run(
            ["--state-dir", directory] + arguments, output: sink.output, clock: clock.clock)
        return Result(status: status, output: sink.written, errors: sink.errors)
    }

    /// Runs a command that must succeed, and gives its JSON.
    func object(_ arguments: String...) async throws -> [String: Any] {
        let sink = Sink()
        let status = await ControlProgram.run(
            ["--state-dir", directory, "--json"] + arguments, output: sink.output, clock: clock.clock)
        try #require(status == 0, "\(sink.errors)")
        let object = try Result(status: status, output: sink.written, errors: sink.errors).object
        #expect(object["schema"] as? Int == 1)
        return object
    }

    private final class Sink: Sendable {
        private let state = Mutex(("", ""))
        var written: String { state.withLock { $0.0 } }
        var errors: String { state.withLock { $0.1 } }
        var output: CommandOutput {
            CommandOutput(
                write: { text in self.state.withLock { $0.0 += text } },
                writeError: { text in self.state.withLock { $0.1 += text + "\n" } })
        }
    }
}
