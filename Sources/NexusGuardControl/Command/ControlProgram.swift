// SPDX-License-Identifier: MIT

internal import AgentCommandLine
internal import AgentCore

/// The programme `nexusguard-control`.
package enum ControlProgram {
    /// What `--version` prints.
    package static let version = "nexusguard-control 0.1.0"

    /// Reads the command line and does what it asks; `serve` returns when the server has ended.
    ///
    /// - Parameters:
    ///   - arguments: The arguments without the programme's name.
    ///   - environment: Gives the value of a variable.
    ///   - output: Where results and errors go.
    ///   - clock: The times of commands.
    /// - Returns: The exit status: 0 done, 1 failed, 2 wrong command line, 3 no such thing, 4 in conflict.
    package static func run(
        _ arguments: [String], environment: @Sendable (String) -> String? = { _ in nil },
        output: CommandOutput = .standard, clock: ControlClock = .system
    ) async -> Int32 {
        let invocation: ControlInvocation
        do {
            invocation = try ControlInvocation(arguments, environment: environment)
        } catch {
            output.writeError(error.description(of: ControlCommandTree.root.name))
            return 2
        }
        switch invocation.command {
        case .help(let path): output.write(HelpText(of: ControlCommandTree.root).text(for: path))
        case .version: output.write(version + "\n")
        case .completion(let shell): output.write(shell.script(for: ControlCommandTree.root))
        case .serve(let options): return await serve(options, invocation, output)
        default:
            do throws(CommandFailure) {
                try await carryOut(invocation, output, clock)
            } catch {
                if invocation.isJSON { output.write(errorJSON(error)) }
                output.writeError(error.sentence)
                return error.status
            }
        }
        return 0
    }

    private static func carryOut(
        _ invocation: ControlInvocation, _ output: CommandOutput, _ clock: ControlClock
    ) async throws(CommandFailure) {
        // The first token may come before the server first runs; everything else needs what is there.
        let createsFile = if case .tokenNew = invocation.command { true } else { false }
        let store: SQLiteStore
        do {
            store = try SQLiteStore(directory: invocation.stateDirectory, createsFile: createsFile)
        } catch {
            throw .store(error)
        }
        let runner = CommandRunner(store: store, isJSON: invocation.isJSON, clock: clock, output: output)
        try await runner.run(invocation.command)
    }

    private static func errorJSON(_ failure: CommandFailure) -> String {
        JSONWriter.document { writer in
            writer.name("error")
            writer.beginObject()
            writer.member("status", Int(failure.status))
            writer.member("message", failure.sentence)
            writer.endObject()
        }
    }

    /// Runs the server until a signal ends it.
    private static func serve(
        _ options: ServeOptions, _ invocation: ControlInvocation, _ output: CommandOutput
    ) async -> Int32 {
        ServerProcess.protectMemory()
        let (ends, end) = AsyncStream.makeStream(of: String?.self)
        ServerProcess.onStopSignal { end.yield(nil) }
        let log = StandardErrorLog(least: options.logLevel)
        let server = ControlServer(options: options, directory: invocation.stateDirectory, log: log)
        do {
            try await server.start { end.yield($0) }
        } catch {
            output.writeError(error.description)
            return 1
        }
        let addresses = await server.addresses
        if invocation.isJSON {
            output.write(
                JSONWriter.document { writer in
                    writer.name("listening")
                    writer.beginArray()
                    for address in addresses { writer.value(address) }
                    writer.endArray()
                })
        } else {
            output.write(addresses.map { "listening on \($0)\n" }.joined())
        }
        var failure: String?
        for await reason in ends {
            failure = reason
            break
        }
        await server.stop()
        if let failure {
            output.writeError(failure)
            return 1
        }
        return 0
    }
}
