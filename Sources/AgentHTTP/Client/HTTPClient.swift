// SPDX-License-Identifier: MIT

internal import Synchronization

/// An HTTP/1.1 client over libcurl.
///
/// It speaks `http` and `https` only, follows no redirect, keeps no cookie, and asks no proxy: the variables
/// `http_proxy`, `https_proxy` and `all_proxy` of the environment have no effect, because a request of the agent
/// must reach its server on the marked socket or not at all. TLS is at least 1.2; the system's certificate
/// authorities are trusted, and those of a file of the options.
///
/// Connections are kept as long as the options say and used again. Requests whose method is not safe (RFC 9110, section
/// 9.2.1) are never sent twice, even where a kept connection turns out to be dead.
public final class HTTPClient: HTTPTransport {
    private let loops = Mutex<[UInt32?: ClientLoop]>([:])
    private let trust = TrustStore()

    /// Creates a client; it starts its thread with the first request and ends it when idle.
    public init() {}

    deinit {
        reset()
    }

    /// Sends a request and waits for the whole answer.
    ///
    /// Cancelling the task ends the exchange at once with `.cancelled` and closes its connection.
    public func send(
        _ request: HTTPRequest, options: HTTPClientOptions
    ) async throws(HTTPError) -> HTTPResponse {
        try await perform(request, options: options, stream: nil)
    }

    /// Sends a request and passes on the content of the answer as it comes, without a limit of time or size.
    ///
    /// The content of an answer whose status is not 2xx is not passed on but returned, up to the limit of the
    /// options. Both functions run on the client's thread and must return soon.
    ///
    /// - Parameters:
    ///   - onResponse: Gets the status and the header fields, once, before the content.
    ///   - onBytes: Gets the content in pieces that follow the network, not the server's writes.
    /// - Returns: The answer with an empty content, when the server ends the stream.
    public func stream(
        _ request: HTTPRequest, options: HTTPClientOptions,
        onResponse: (@Sendable (HTTPResponse) -> Void)? = nil,
        onBytes: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(HTTPError) -> HTTPResponse {
        let stream = Transfer.Stream(onResponse: onResponse, onBytes: onBytes)
        return try await perform(request, options: options, stream: stream)
    }

    /// Forgets the kept connections and the addresses of hosts, such as when the network has changed.
    ///
    /// Requests under way go on.
    public func reset() {
        let former = loops.withLock { loops in
            defer { loops = [:] }
            return Array(loops.values)
        }
        for loop in former { loop.retire() }
    }

    private func perform(
        _ request: HTTPRequest, options: HTTPClientOptions, stream: Transfer.Stream?
    ) async throws(HTTPError) -> HTTPResponse {
        guard CurlLibrary.isReady else { throw .other("libcurl cannot be used") }
        guard !Task.isCancelled else { throw .cancelled }
        let authorities = try trust.file(for: options.certificateAuthorityFile)
        let transfer = try Transfer(request, options: options, authorities: authorities, stream: stream)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.begin { continuation.resume(returning: $0) }
                submit(transfer, mark: options.socketMark)
            }
        } onCancel: {
            transfer.cancel()
        }
        return try result.get()
    }

    /// Hands a transfer to the thread that keeps the connections with this mark.
    private func submit(_ transfer: Transfer, mark: UInt32?) {
        while true {
            // A connection keeps the mark it was made with, so different marks must not share any.
            let loop = loops.withLock { loops in
                if let loop = loops[mark] { return loop }
                let loop = ClientLoop()
                loops[mark] = loop
                return loop
            }
            if loop.submit(transfer) { return }
            loops.withLock { loops in
                if loops[mark] === loop { loops[mark] = nil }
            }
        }
    }
}
