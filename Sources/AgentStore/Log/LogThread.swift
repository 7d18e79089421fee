// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// A thread for calls that may wait for the disk, which tasks must not do.
final class LogThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread, which ends with `body`; `nil` when the system has no room for one.
    init?(_ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(body))
        // Signals stay with the threads of the programme, but for those that a fault of this one raises.
        var blocked = sigset_t()
        var former = sigset_t()
        sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] {
            sigdelset(&blocked, fault)
        }
        pthread_sigmask(SIG_SETMASK, &blocked, &former)
        var handle = pthread_t()
        let result = pthread_create(
            &handle, nil,
            { argument in
                linux_set_thread_name("log-file")
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        pthread_sigmask(SIG_SETMASK, &former, nil)
        guard result == 0 else {
            work.release()
            return nil
        }
        self.handle = handle
    }

    /// Waits for the end of the thread; once, and not from the thread itself.
    func join() { pthread_join(handle, nil) }

    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }
}
