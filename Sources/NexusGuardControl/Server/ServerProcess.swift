// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// What concerns the process as a whole.
enum ServerProcess {
    /// Keeps keys out of core files and out of reach of other processes of the user, and the heap small.
    static func protectMemory() {
        _ = linux_set_not_dumpable()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = linux_use_one_small_heap()
        signal(SIGPIPE, SIG_IGN)
    }

    /// Calls `body` on a thread of its own at the first SIGTERM or SIGINT, which no longer end the process. A
    /// second one ends it at once.
    static func onStopSignal(_ body: @escaping @Sendable () -> Void) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let waited = signals
        DetachedThread.start {
            var signals = waited
            var number: Int32 = 0
            while sigwait(&signals, &number) != 0 {}
            body()
            while sigwait(&signals, &number) != 0 {}
            _exit(128 + number)
        }
    }
}
