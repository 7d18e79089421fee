// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CLINUX_CONTROL_H
#define NEXUSGUARD_CLINUX_CONTROL_H

#include <malloc.h>
#include <stddef.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// Enumerators in the headers above; Swift wants plain integers.
static const int linux_inotify_flags = IN_CLOEXEC | IN_NONBLOCK;
static const uint32_t linux_inotify_entry_gone = IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;

// Takes a connection from a listening socket; the new descriptor does not block and is closed on exec.
static inline int linux_accept(int descriptor) {
    return (int)syscall(SYS_accept4, descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// Makes all threads share one heap, and gives memory back to the system early.
static inline int linux_use_one_small_heap(void) {
    return mallopt(M_ARENA_MAX, 1) && mallopt(M_TRIM_THRESHOLD, 256 * 1024);
}

#endif
