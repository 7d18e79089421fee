// SPDX-License-Identifier: MIT

internal import CCurl
internal import CLinux
internal import Glibc

/// What libcurl reports while a transfer goes on, and what its end means.
extension Transfer {
    /// Takes a line of the header; returns whether the transfer goes on.
    func takeHeader(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        let wasComplete = answer.isHeaderComplete
        guard answer.takeHeaderLine(line) else {
            failure = .tooLarge
            return false
        }
        if answer.isHeaderComplete, !wasComplete { stream?.onResponse?(response(body: [])) }
        return true
    }

    /// Takes a piece of the content; returns whether the transfer goes on.
    func takeContent(_ piece: UnsafeBufferPointer<UInt8>) -> Bool {
        if let stream, (200..<300).contains(answer.status) {
            stream.onBytes(Array(piece))
            return true
        }
        guard piece.count <= options.responseLimit - answer.body.count else {
            failure = .tooLarge
            return false
        }
        answer.body.append(contentsOf: piece)
        return true
    }

    /// Opens the socket of a connection, closed on exec and marked; returns -1 when it cannot be.
    func openSocket(family: Int32, type: Int32, protocol: Int32) -> Int32 {
        let descriptor = socket(family, type | ng_socket_close_on_exec, `protocol`)
        guard descriptor >= 0 else {
            failure = .connect("no socket: \(Self.text(ofError: errno))")
            return -1
        }
        if var mark = options.socketMark, family != AF_UNIX {
            let size = socklen_t(MemoryLayout.size(ofValue: mark))
            if setsockopt(descriptor, SOL_SOCKET, linux_so_mark, &mark, size) != 0 {
                failure = .connect("the socket cannot be marked: \(Self.text(ofError: errno))")
                close(descriptor)
                return -1
            }
        }
        return descriptor
    }

    /// Whether libcurl may send the request now.
    ///
    /// It sends again when a kept connection ends without an answer. The server may have acted on the first
    /// request all the same, so that is right for safe methods only.
    func mayBeSent() -> Bool {
        attemptCount += 1
        if attemptCount == 1 || Self.safeMethods.contains(request.method) { return true }
        failure = .truncated
        return false
    }

    /// The result of a transfer that libcurl ended with this code.
    func outcome(of code: CURLcode) -> Result<HTTPResponse, HTTPError> {
        if code == CURLE_OK {
            // libcurl takes an answer that ends within its header for whole.
            return answer.isHeaderComplete ? .success(response(body: answer.body)) : .failure(.truncated)
        }
        return .failure(failure ?? error(of: code))
    }

    private func response(body: [UInt8]) -> HTTPResponse {
        var address: UnsafePointer<CChar>?
        if request.unixSocket == nil { ng_curl_get_string(handles.easy, CURLINFO_PRIMARY_IP, &address) }
        let text = address.map { String(cString: $0) } ?? ""
        return HTTPResponse(
            status: answer.status, headers: answer.headers, body: body,
            remoteAddress: text.isEmpty ? nil : text)
    }

    private func error(of code: CURLcode) -> HTTPError {
        switch code {
        case CURLE_URL_MALFORMAT: .invalidURL
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            request.unixSocket == nil ? .resolve(text(of: code)) : .connect(text(of: code))
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: .connect(connectText(code))
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR: .truncated
        case CURLE_PEER_FAILED_VERIFICATION: .tls(verificationText(code))
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
            CURLE_USE_SSL_FAILED, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_SHUTDOWN_FAILED,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
            .tls(text(of: code))
        case CURLE_SSL_CACERT_BADFILE: .tls("no certificate authorities can be read")
        // With a URL that was checked, this is an answer that does not begin like one of HTTP/1.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .other("the answer is not HTTP/1.1")
        default: .other(text(of: code))
        }
    }

    /// libcurl's sentence about this transfer, else about the code in general.
    private func text(of code: CURLcode) -> String {
        let specific = handles.errorText.map { String(cString: $0) } ?? ""
        return specific.isEmpty ? String(cString: curl_easy_strerror(code)) : specific
    }

    private func connectText(_ code: CURLcode) -> String {
        var number = 0
        ng_curl_get_long(handles.easy, CURLINFO_OS_ERRNO, &number)
        let target = request.unixSocket.map { "\($0): " } ?? ""
        return number == 0
            ? target + text(of: code) : target + Self.text(ofError: Int32(truncatingIfNeeded: number))
    }

    /// Why a certificate was refused, which libcurl's sentence does not say.
    private func verificationText(_ code: CURLcode) -> String {
        var flags = 0
        ng_curl_get_long(handles.easy, CURLINFO_SSL_VERIFYRESULT, &flags)
        for (flag, reason) in Self.verificationReasons where flags & flag != 0 { return reason }
        // The rest of the sentence names files.
        let text = text(of: code)
        return text.firstRange(of: ". CAfile").map { String(text[..<$0.lowerBound]) } ?? text
    }

    static func text(ofError number: Int32) -> String {
        strerrordesc_np(number).map { String(cString: $0) } ?? "error \(number)"
    }

    /// RFC 9110, section 9.2.1.
    private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE"]

    /// Flags of GnuTLS (`gnutls_certificate_status_t`), the most telling first.
    private static let verificationReasons = [
        (1 << 5, "the certificate was revoked"),
        (1 << 10, "the certificate has expired, or the clock is wrong"),
        (1 << 9, "the certificate is not valid yet, or the clock is wrong"),
        (1 << 6, "the certificate is not signed by a trusted authority"),
        (1 << 7, "the certificate is signed by one that is no authority"),
        (1 << 8, "the certificate uses an algorithm that is not secure"),
        (1 << 14, "the certificate is for another host"),
    ]
}
