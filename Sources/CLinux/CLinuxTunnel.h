// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CLINUX_TUNNEL_H
#define NEXUSGUARD_CLINUX_TUNNEL_H

#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// From <linux/if_tun.h>: requests of /dev/net/tun, flags of an interface, and what it may be handed.
static const unsigned long linux_tunsetiff = 0x400454ca;
static const unsigned long linux_tungetiff = 0x800454d2;
static const unsigned long linux_tunsetoffload = 0x400454d0;
static const unsigned long linux_tungetvnethdrsz = 0x800454d7;
static const unsigned long linux_tunsetvnethdrsz = 0x400454d8;
static const unsigned long linux_tungetdevnetns = 0x54e3;

static const uint16_t linux_iff_tun = 0x0001;
static const uint16_t linux_iff_no_pi = 0x1000;
static const uint16_t linux_iff_vnet_hdr = 0x4000;

static const unsigned long linux_tun_f_csum = 0x01;
static const unsigned long linux_tun_f_tso4 = 0x02;
static const unsigned long linux_tun_f_tso6 = 0x04;
static const unsigned long linux_tun_f_uso4 = 0x20;
static const unsigned long linux_tun_f_uso6 = 0x40;

// From <linux/virtio_net.h>.
static const uint8_t linux_virtio_needs_csum = 1;
static const uint8_t linux_virtio_gso_none = 0;
static const uint8_t linux_virtio_gso_tcpv4 = 1;
static const uint8_t linux_virtio_gso_tcpv6 = 4;
static const uint8_t linux_virtio_gso_udp_l4 = 5;
static const uint8_t linux_virtio_gso_ecn = 0x80;

// From <linux/sockios.h>.
static const unsigned long linux_siocgifname = 0x8910;
static const unsigned long linux_siocgifflags = 0x8913;
static const unsigned long linux_siocsifflags = 0x8914;
static const unsigned long linux_siocgifmtu = 0x8921;
static const unsigned long linux_siocsifmtu = 0x8922;
static const unsigned long linux_siocgifindex = 0x8933;

// From <linux/if.h>.
static const uint16_t linux_iff_up = 0x0001;

// From <linux/netlink.h> and <linux/rtnetlink.h>.
static const int linux_af_netlink = 16;
static const int linux_netlink_socket_type = SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC;
static const int linux_netlink_blocking_socket_type = SOCK_RAW | SOCK_CLOEXEC;
static const int linux_netlink_route = 0;
static const uint32_t linux_rtmgrp_link = 1;
static const uint16_t linux_nlmsg_error = 2;
static const uint16_t linux_rtm_newlink = 16;
static const uint16_t linux_rtm_dellink = 17;
static const uint16_t linux_rtm_getlink = 18;
static const uint16_t linux_nlm_f_request = 1;
static const uint16_t linux_ifla_mtu = 4;
static const uint16_t linux_ifla_new_netnsid = 45;
static const uint16_t linux_ifla_new_ifindex = 49;

// `struct ifreq`, with the two forms of its union that are used here: an int, and flags of 16 bits.
struct linux_interface_request {
    char name[16];
    union {
        int32_t value;
        uint16_t flags;
        uint8_t bytes[24];
    };
};

// `struct sockaddr_nl`.
struct linux_netlink_address {
    uint16_t family;
    uint16_t padding;
    uint32_t port;
    uint32_t groups;
};

// `struct nlmsghdr`, of which the length counts the header too.
struct linux_netlink_header {
    uint32_t length;
    uint16_t type;
    uint16_t flags;
    uint32_t sequence;
    uint32_t port;
};

// `struct ifinfomsg`.
struct linux_link_message {
    uint8_t family;
    uint8_t padding;
    uint16_t type;
    int32_t index;
    uint32_t flags;
    uint32_t change;
};

// `struct rtattr`, of which the length counts the header too.
struct linux_netlink_attribute {
    uint16_t length;
    uint16_t type;
};

// A question about one link.
struct linux_link_query {
    struct linux_netlink_header header;
    struct linux_link_message link;
};

// `ioctl` with a pointer or a number; Swift does not import variadic functions.
static inline int linux_ioctl(int descriptor, unsigned long request, void *argument) {
    return ioctl(descriptor, request, argument);
}

static inline int linux_ioctl_number(int descriptor, unsigned long request, unsigned long argument) {
    return ioctl(descriptor, request, argument);
}

#endif
