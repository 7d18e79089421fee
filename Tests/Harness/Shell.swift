// SPDX-License-Identifier: MIT

/// One finished command.
package struct Output: CustomStringConvertible {
    /// The command and its arguments.
    package let arguments: [String]
    /// The exit status; 128 and more when a signal ended it.
    package let status: Int32
    /// Everything it wrote to standard output.
    package let standardOutput: String
    /// Everything it wrote to standard error.
    package let standardError: String

    /// Whether the exit status is 0.
    package var succeeded: Bool { status == 0 }
    /// Standard output without surrounding white space.
    package var text: String { standardOutput.trimmed }
    /// Standard output, line by line.
    package var lines: [String] { standardOutput.split(separator: "\n").map(String.init) }

    package var description: String {
        "`\(arguments.joined(separator: " "))` ended with \(status): \(standardOutput)\(standardError)"
    }
}

/// Why a command gave no result.
package enum ShellError: Error, CustomStringConvertible {
    /// The system refused to start it, with this errno.
    case notStarted([String], Int32)
    /// It ran beyond the limit and was killed; with what it had written.
    case tooSlow([String], Duration, String)
    /// It failed where success is a condition of the test.
    case failed(Output)
    /// A condition did not come true in time.
    case neverTrue(String)

    package var description: String {
        switch self {
        case .notStarted(let arguments, let number):
            "`\(arguments.joined(separator: " "))` did not start: errno \(number)"
        case .tooSlow(let arguments, let limit, let written):
            "`\(arguments.joined(separator: " "))` did not end within \(limit): \(written)"
        case .failed(let output): "\(output)"
        case .neverTrue(let sentence): "never so: \(sentence)"
        }
    }
}

/// Commands that run to their end.
package enum Shell {
    /// How long anything may take that takes a moment: far longer than a busy machine needs, and no more than a
    /// failing test may wait.
    package static let patience = Duration.seconds(300)

    /// Runs a command and returns what became of it.
    package static func run(
        _ arguments: [String], environment: [String: String] = [:], input: String = "",
        atMost limit: Duration = patience
    ) async throws -> Output {
        try await Child(arguments, environment: environment, input: input).wait(atMost: limit)
    }

    /// Runs a command that must succeed.
    @discardableResult
    package static func check(
        _ arguments: [String], environment: [String: String] = [:], input: String = "",
        atMost limit: Duration = patience
    ) async throws -> Output {
        let output = try await run(arguments, environment: environment, input: input, atMost: limit)
        guard output.succeeded else { throw ShellError.failed(output) }
        return output
    }

    /// Returns once `condition` holds; asks again and again.
    ///
    /// - Throws: `ShellError.neverTrue` with `sentence` after `limit`.
    package static func eventually(
        _ sentence: String, atMost limit: Duration = patience, _ condition: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        while try await !condition() {
            guard ContinuousClock.now < deadline else { throw ShellError.neverTrue(sentence) }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

extension String {
    /// The string without white space at its ends.
    package var trimmed: String {
        var rest = self[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
