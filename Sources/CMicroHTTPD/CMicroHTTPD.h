// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CMICROHTTPD_H
#define NEXUSGUARD_CMICROHTTPD_H
#include <stdarg.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <microhttpd.h>

// MHD_get_connection_info takes a variable list of arguments, which Swift cannot call.

static inline int ng_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *ng_mhd_client_address(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

static inline void *ng_mhd_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

// Macros with casts; Swift wants plain integers.
static const uint64_t ng_mhd_size_unknown = MHD_SIZE_UNKNOWN;
static const ssize_t ng_mhd_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t ng_mhd_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;

// `struct ucred`, which glibc hides behind _GNU_SOURCE.
struct ng_peer_credentials {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};

// From <asm-generic/socket.h>, which may not be included beside glibc's headers.
static const int ng_so_peercred = 17;
static const int ng_so_peergroups = 59;
#endif
