// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CLINUX_EVENTS_H
#define NEXUSGUARD_CLINUX_EVENTS_H

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

// The constants below are enumerators in the headers above; Swift wants plain integers.

static const int linux_epoll_cloexec = EPOLL_CLOEXEC;
static const uint32_t linux_epoll_in = EPOLLIN;
static const uint32_t linux_epoll_out = EPOLLOUT;
static const uint32_t linux_epoll_error = EPOLLERR;
static const uint32_t linux_epoll_hangup = EPOLLHUP;
static const uint32_t linux_epoll_peer_closed = EPOLLRDHUP;

static const int linux_eventfd_flags = EFD_CLOEXEC | EFD_NONBLOCK;
static const int linux_eventfd_blocking_flags = EFD_CLOEXEC;
static const int linux_timerfd_flags = TFD_CLOEXEC | TFD_NONBLOCK;
static const int linux_timerfd_cancelled_when_set = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
static const int linux_signalfd_flags = SFD_CLOEXEC | SFD_NONBLOCK;

#endif
