// SPDX-License-Identifier: MIT

/// What sends a request and returns the answer; `HTTPClient` in operation, a double in tests.
public protocol HTTPTransport: Sendable {
    /// Sends a request and waits for the whole answer.
    ///
    /// Cancelling the task ends the exchange at once with `.cancelled`.
    func send(
        _ request: HTTPRequest, options: HTTPClientOptions
    ) async throws(HTTPError) -> HTTPResponse
}
