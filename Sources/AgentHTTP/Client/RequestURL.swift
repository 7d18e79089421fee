// SPDX-License-Identifier: MIT

internal import CCurl

/// What a client accepts as a URL.
enum RequestURL {
    /// Checks that a URL names its scheme, `http` or `https`, and a host, but no user.
    ///
    /// The parser is the one that libcurl then connects by, so both take the same host from it.
    static func check(_ text: String) throws(HTTPError) {
        guard !text.utf8.contains(0), let separator = text.firstRange(of: "://"),
            // libcurl would take "http:///path" for the host "path".
            !text[separator.upperBound...].hasPrefix("/"), let handle = curl_url()
        else { throw .invalidURL }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else { throw .invalidURL }
        let scheme = part(CURLUPART_SCHEME, of: handle)
        guard scheme == "http" || scheme == "https",
            part(CURLUPART_USER, of: handle) == nil, part(CURLUPART_PASSWORD, of: handle) == nil,
            let host = part(CURLUPART_HOST, of: handle), !host.isEmpty
        else { throw .invalidURL }
    }

    private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
