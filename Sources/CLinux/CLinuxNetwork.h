// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CLINUX_NETWORK_H
#define NEXUSGUARD_CLINUX_NETWORK_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

// From <linux/udp.h> and <asm-generic/socket.h>, which may not be included beside glibc's headers.
static const int linux_sol_udp = 17;
static const int linux_udp_segment = 103;
static const int linux_udp_gro = 104;
static const int linux_so_mark = 36;
static const int linux_so_sndbufforce = 32;
static const int linux_so_rcvbufforce = 33;

// Enumerators in the headers above; Swift wants plain integers.
static const int linux_datagram_socket_type = SOCK_DGRAM;
static const int linux_udp_socket_type = SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
static const int linux_stream_socket_type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
static const int linux_msg_truncated = MSG_TRUNC;
static const int linux_msg_dontwait = MSG_DONTWAIT;
static const int linux_msg_nosignal = MSG_NOSIGNAL;

// glibc hides `struct in6_pktinfo` behind _GNU_SOURCE; the layout is the kernel's (RFC 3542, section 6.1).
struct linux_in6_pktinfo {
    uint8_t address[16];
    uint32_t interface_index;
};

#endif
