// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CCURL_H
#define NEXUSGUARD_CCURL_H
#include <curl/curl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// curl_easy_setopt and curl_easy_getinfo take a variable list of arguments, which Swift cannot call.

static inline CURLcode ng_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ng_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ng_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ng_curl_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ng_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ng_curl_set_write(
    CURL *handle, CURLoption option, size_t (*function)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(handle, option, function);
}

static inline CURLcode ng_curl_set_socket(
    CURL *handle, curl_socket_t (*function)(void *, curlsocktype, struct curl_sockaddr *)) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, function);
}

static inline CURLcode ng_curl_set_before_request(
    CURL *handle, int (*function)(void *, char *, char *, int, int)) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, function);
}

static inline CURLcode ng_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode ng_curl_get_string(CURL *handle, CURLINFO info, const char **value) {
    return curl_easy_getinfo(handle, info, (char **)value);
}

// A share that keeps the addresses of hosts for the handles that use it.
static inline CURLSH *ng_curl_share_of_addresses(void) {
    CURLSH *share = curl_share_init();
    if (share && curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) != CURLSHE_OK) {
        curl_share_cleanup(share);
        share = NULL;
    }
    return share;
}

// A macro and enumerators in the headers above; Swift wants plain integers.
static const long ng_curl_global_all = CURL_GLOBAL_ALL;
static const long ng_curl_http_1_1 = CURL_HTTP_VERSION_1_1;
static const long ng_curl_tls_1_2 = CURL_SSLVERSION_TLSv1_2;
static const int ng_curl_continue_request = CURL_PREREQFUNC_OK;
static const int ng_curl_abort_request = CURL_PREREQFUNC_ABORT;
static const int ng_socket_close_on_exec = SOCK_CLOEXEC;

// A file without a name, in memory; it is closed on exec.
static inline int ng_memory_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 1U);
}
#endif
