// SPDX-License-Identifier: MIT

internal import CCurl

extension Transfer {
    /// Gives libcurl the whole request.
    ///
    /// - Returns: Whether it took every option; one that it refuses must not be left out silently.
    func configure(_ easy: UnsafeMutableRawPointer) -> Bool {
        var setter = CurlOptions(easy: easy)
        configureMessage(&setter)
        configureLimits(&setter)
        configureConnection(&setter)
        configureCallbacks(&setter)
        return setter.isAccepted
    }

    private func configureMessage(_ setter: inout CurlOptions) {
        setter.set(CURLOPT_URL, request.url)
        setter.set(CURLOPT_HTTP_VERSION, ng_curl_http_1_1)
        if let body = request.body {
            setter.set(CURLOPT_POSTFIELDSIZE_LARGE, offset: body.count)
            // Copied: the transfer may outlive every place where the array could be pinned.
            if body.isEmpty { setter.set(CURLOPT_COPYPOSTFIELDS, "") }
            body.withUnsafeBytes {
                if let start = $0.baseAddress { setter.set(CURLOPT_COPYPOSTFIELDS, start) }
            }
        } else if request.method == "HEAD" {
            setter.set(CURLOPT_NOBODY, 1)
        } else if request.method == "POST" {
            setter.set(CURLOPT_POSTFIELDSIZE_LARGE, offset: 0)
            setter.set(CURLOPT_COPYPOSTFIELDS, "")
        }
        setter.set(CURLOPT_CUSTOMREQUEST, request.method)
        for line in headerLines { handles.headers = curl_slist_append(handles.headers, line) }
        setter.set(CURLOPT_HTTPHEADER, list: handles.headers)
    }

    private func configureLimits(_ setter: inout CurlOptions) {
        setter.set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(options.connectTimeout))
        if stream == nil {
            setter.set(CURLOPT_TIMEOUT_MS, Self.milliseconds(options.totalTimeout))
        } else if let idle = options.streamIdleTimeout {
            setter.set(CURLOPT_LOW_SPEED_LIMIT, 1)
            setter.set(CURLOPT_LOW_SPEED_TIME, max(1, Int(idle.components.seconds)))
        }
        setter.set(CURLOPT_MAXAGE_CONN, max(1, Int(options.idleLimit.components.seconds)))
        // Without signals, and without waiting for the thread of a resolver that does not answer.
        setter.set(CURLOPT_NOSIGNAL, 1)
        setter.set(CURLOPT_QUICK_EXIT, 1)
    }

    private func configureConnection(_ setter: inout CurlOptions) {
        setter.set(CURLOPT_PROTOCOLS_STR, "http,https")
        setter.set(CURLOPT_PROXY, "")
        setter.set(CURLOPT_SSLVERSION, ng_curl_tls_1_2)
        if let path = authorities.path {
            setter.set(CURLOPT_CAINFO, path)
            setter.set(CURLOPT_CAPATH, nil)
        }
        if let path = request.unixSocket { setter.set(CURLOPT_UNIX_SOCKET_PATH, path) }
        if !addressLines.isEmpty {
            // Within a cache of its own: the addresses are for this request only.
            handles.share = ng_curl_share_of_addresses()
            setter.set(CURLOPT_SHARE, pointer: handles.share)
            for line in addressLines { handles.addresses = curl_slist_append(handles.addresses, line) }
            setter.set(CURLOPT_RESOLVE, list: handles.addresses)
        }
    }

    private func configureCallbacks(_ setter: inout CurlOptions) {
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        text.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        handles.errorText = text
        setter.set(CURLOPT_ERRORBUFFER, pointer: text)
        // The loop holds the transfer until libcurl has let go of it.
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [
            CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA,
        ] { setter.set(option, pointer: context) }
        setter.set(CURLOPT_HEADERFUNCTION, write: CurlCallbacks.header)
        setter.set(CURLOPT_WRITEFUNCTION, write: CurlCallbacks.content)
        setter.check(ng_curl_set_socket(setter.easy, CurlCallbacks.socket))
        setter.check(ng_curl_set_before_request(setter.easy, CurlCallbacks.attempt))
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        let bounded = min(max(seconds, 0), 1_000_000)
        // 0 would mean libcurl's own default.
        return max(1, Int(bounded) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
