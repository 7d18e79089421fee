// SPDX-License-Identifier: MIT

internal import CCurl

/// Sets options and remembers whether one was refused.
struct CurlOptions {
    let easy: UnsafeMutableRawPointer
    var isAccepted = true

    mutating func check(_ code: CURLcode) {
        if code != CURLE_OK { isAccepted = false }
    }

    mutating func set(_ option: CURLoption, _ value: Int) {
        check(ng_curl_set_long(easy, option, value))
    }

    mutating func set(_ option: CURLoption, offset: Int) {
        check(ng_curl_set_offset(easy, option, curl_off_t(offset)))
    }

    mutating func set(_ option: CURLoption, _ text: String?) {
        if let text {
            check(ng_curl_set_string(easy, option, text))
        } else {
            check(ng_curl_set_string(easy, option, nil))
        }
    }

    mutating func set(_ option: CURLoption, _ bytes: UnsafeRawPointer) {
        check(ng_curl_set_pointer(easy, option, bytes))
    }

    mutating func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
        if pointer == nil { isAccepted = false }
        check(ng_curl_set_pointer(easy, option, pointer))
    }

    mutating func set(_ option: CURLoption, list: UnsafeMutablePointer<curl_slist>?) {
        if list == nil { isAccepted = false }
        check(ng_curl_set_list(easy, option, list))
    }

    mutating func set(
        _ option: CURLoption,
        write: CurlCallbacks.Write
    ) {
        check(ng_curl_set_write(easy, option, write))
    }
}
