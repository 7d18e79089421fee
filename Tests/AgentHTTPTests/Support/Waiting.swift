// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Foundation
internal import Testing

/// Waits until a condition holds; ten minutes without it are a failure of the test.
func eventually(
    _ what: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: @Sendable () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(600)
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("\(what): not within ten minutes", sourceLocation: sourceLocation)
            return
        }
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// The error of an exchange; `nil` when there is an answer.
func failure(of exchange: () async throws -> HTTPResponse) async -> HTTPError? {
    do {
        _ = try await exchange()
        return nil
    } catch {
        return error as? HTTPError
    }
}

/// Runs a function that blocks on a thread of its own: the threads that run tasks are few, and the server's
/// handlers need them.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    let result = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(returning: Swift.Result { try body() })
        }
    }
    return try result.get()
}
