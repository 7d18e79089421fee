// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CLINUX_PROCESS_H
#define NEXUSGUARD_CLINUX_PROCESS_H

#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc (since 2.32) hides these two behind _GNU_SOURCE. Both return constant strings, or NULL for a
// number that is no error number, and depend on no locale.
extern const char *strerrorname_np(int error_number);
extern const char *strerrordesc_np(int error_number);

// Flags of setns() and unshare(), as the kernel defines them.
static const int linux_clone_newns = 0x00020000;
static const int linux_clone_newnet = 0x40000000;

// A flag of sched_setscheduler(), as the kernel defines it: threads and processes that the caller starts are
// scheduled normally.
static const int linux_sched_reset_on_fork = 0x40000000;

// Gives the calling thread a name of at most 15 bytes.
static inline int linux_set_thread_name(const char *name) {
    return prctl(PR_SET_NAME, (unsigned long)name, 0UL, 0UL, 0UL);
}

// Bars core dumps and tracing by other processes of the same user, because both would show keys.
static inline int linux_set_not_dumpable(void) {
    return prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
}

// The kernel's number of the calling thread.
static inline int linux_thread_identifier(void) {
    return (int)syscall(SYS_gettid);
}

// Moves the calling thread into the namespace that a descriptor names.
static inline int linux_setns(int descriptor, int namespace_type) {
    return (int)syscall(SYS_setns, descriptor, namespace_type);
}

// Moves the calling thread into new namespaces.
static inline int linux_unshare(int flags) {
    return (int)syscall(SYS_unshare, flags);
}

#endif
