// SPDX-License-Identifier: MIT

internal import CCurl
internal import Glibc
internal import Synchronization

/// One exchange of a client, from the request to the answer.
///
/// Made by the task that sends the request, then owned by the thread of a `ClientLoop`: all but `cancel`,
/// `isCancelled` and `onCancel` is touched by one of them at a time, which is why threads may share it.
final class Transfer: @unchecked Sendable {
    /// Where the content of an event stream goes.
    struct Stream: Sendable {
        let onResponse: (@Sendable (HTTPResponse) -> Void)?
        let onBytes: @Sendable ([UInt8]) -> Void
    }

    let request: HTTPRequest
    let options: HTTPClientOptions
    let authorities: TrustFile
    let stream: Stream?
    /// Header lines and addresses in the form of libcurl, checked.
    let headerLines: [String]
    let addressLines: [String]

    /// What has come of the answer.
    var answer = PartialAnswer()
    /// Why a callback ended the transfer; it says more than libcurl's code.
    var failure: HTTPError?
    /// How often libcurl was about to send the request.
    var attemptCount = 0
    var handles = Handles()

    private var completion: (@Sendable (Result<HTTPResponse, HTTPError>) -> Void)?
    private let cancellation = Mutex(Cancellation())

    /// Checks a request.
    init(
        _ request: HTTPRequest, options: HTTPClientOptions, authorities: TrustFile, stream: Stream?
    ) throws(HTTPError) {
        guard HeaderFields.isToken(request.method) else { throw .other("the method is no token") }
        try RequestURL.check(request.url)
        self.request = request
        self.options = options
        self.authorities = authorities
        self.stream = stream
        headerLines = try Self.headerLines(of: request)
        addressLines = try Self.addressLines(of: options)
    }

    /// Says who is told the result, once.
    func begin(_ completion: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void) {
        self.completion = completion
    }

    /// Makes the loop end the transfer at its next turn, and wakes it.
    func cancel() {
        let wake = cancellation.withLock { cancellation in
            cancellation.isCancelled = true
            return cancellation.wake.take()
        }
        wake?()
    }

    /// Whether the task that sent the request was cancelled.
    var isCancelled: Bool { cancellation.withLock { $0.isCancelled } }

    /// Sets what `cancel` calls; it is called at once when the transfer is cancelled already.
    func onCancel(_ wake: @escaping @Sendable () -> Void) {
        let isLate = cancellation.withLock { cancellation in
            if !cancellation.isCancelled { cancellation.wake = wake }
            return cancellation.isCancelled
        }
        if isLate { wake() }
    }

    /// Starts the exchange, or tells why it cannot start.
    ///
    /// - Returns: The handle of libcurl that reports the end of the exchange.
    func start(in multi: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        guard let easy = curl_easy_init() else {
            finish(.failure(.other("no memory for the request")))
            return nil
        }
        handles.easy = easy
        guard configure(easy), curl_multi_add_handle(multi, easy) == CURLM_OK else {
            handles.free()
            finish(.failure(.other("libcurl refuses the request")))
            return nil
        }
        return easy
    }

    /// Takes the exchange out of libcurl and tells its result.
    func end(in multi: UnsafeMutableRawPointer, with result: Result<HTTPResponse, HTTPError>) {
        if let easy = handles.easy { curl_multi_remove_handle(multi, easy) }
        handles.free()
        finish(result)
    }

    /// Tells the result to the task that sent the request.
    func finish(_ result: Result<HTTPResponse, HTTPError>) {
        cancellation.withLock { $0.wake = nil }
        completion.take()?(result)
    }

    /// What libcurl holds for a transfer.
    struct Handles {
        var easy: UnsafeMutableRawPointer?
        var share: UnsafeMutableRawPointer?
        var headers: UnsafeMutablePointer<curl_slist>?
        var addresses: UnsafeMutablePointer<curl_slist>?
        var errorText: UnsafeMutablePointer<CChar>?

        /// Frees everything; the handle must no longer be part of a multi handle.
        mutating func free() {
            if let easy { curl_easy_cleanup(easy) }
            // Only now does nothing refer to the rest.
            if let share { curl_share_cleanup(share) }
            if let headers { curl_slist_free_all(headers) }
            if let addresses { curl_slist_free_all(addresses) }
            errorText?.deallocate()
            self = Handles()
        }
    }

    private struct Cancellation {
        var isCancelled = false
        var wake: (@Sendable () -> Void)?
    }

    private static func headerLines(of request: HTTPRequest) throws(HTTPError) -> [String] {
        var lines: [String] = []
        for (name, value) in request.headers {
            guard HeaderFields.isToken(name), HeaderFields.isValue(value) else {
                throw .other("a header field has an invalid name or value")
            }
            if HeaderFields.isSame(name, "Content-Length") { continue }
            // libcurl takes "Name;" for a field without a value and "Name:" for one to leave out.
            lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        // What libcurl would add by itself.
        for name in ["Accept", "Content-Type"] where HeaderFields.first(name, in: request.headers) == nil {
            lines.append("\(name):")
        }
        lines.append("Expect:")
        return lines
    }

    private static func addressLines(of options: HTTPClientOptions) throws(HTTPError) -> [String] {
        var lines: [String] = []
        for (host, port, addresses) in options.resolved {
            var bytes = in6_addr()
            for address in addresses {
                guard inet_pton(AF_INET, address, &bytes) == 1 || inet_pton(AF_INET6, address, &bytes) == 1
                else { throw .resolve("\(host) has an address that is not numeric") }
            }
            guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }), !addresses.isEmpty else {
                throw .resolve("a host without a name or an address")
            }
            let list = addresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
            lines.append("\(host):\(port):\(list)")
        }
        return lines
    }
}
