// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import Synchronization

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

    /// What the handler of signals writes to.
    private static let bell = Atomic<Int32>(-1)

    /// Calls `body` on a thread of its own at the first SIGTERM or SIGINT, which no longer end the process. A
    /// second one ends it at once.
    ///
    /// A handler and not a blocked signal: the threads that exist by now would still let it end the process.
    static func onStopSignal(_ body: @escaping @Sendable () -> Void) {
        let descriptor = eventfd(0, linux_eventfd_blocking_flags)
        guard descriptor >= 0 else { return }
        bell.store(descriptor, ordering: .sequentiallyConsistent)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            var one: UInt64 = 1
            _ = write(ServerProcess.bell.load(ordering: .sequentiallyConsistent), &one, 8)
        }
        action.sa_flags = SA_RESTART
        sigaction(SIGTERM, &action, nil)
        sigaction(SIGINT, &action, nil)
        DetachedThread.start {
            awaitBell(descriptor)
            body()
            awaitBell(descriptor)
            _exit(1)
        }
    }

    private static func awaitBell(_ descriptor: Int32) {
        var count: UInt64 = 0
        while read(descriptor, &count, 8) < 0, errno == EINTR {}
    }
}
