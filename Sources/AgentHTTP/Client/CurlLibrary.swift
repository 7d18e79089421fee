// SPDX-License-Identifier: MIT

internal import CCurl

/// What is done once in a process before libcurl is used.
enum CurlLibrary {
    /// Whether libcurl is ready for use; the first use of this value makes it so.
    static let isReady = curl_global_init(ng_curl_global_all) == CURLE_OK
}
