// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import Synchronization

/// A named thread that runs one function, and that no signal of the process interrupts.
///
/// Signals stay with the threads of the programme around the engine; only those that a fault of the thread
/// itself raises, such as SIGSEGV, reach it.
package final class WorkerThread: Sendable {
    private let handle: pthread_t
    private let isJoined = Atomic(false)

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: Shown by `ps -L` and debuggers; the kernel keeps the first 15 bytes.
    ///   - body: What the thread does; the thread ends with it.
    /// - Throws: `SystemCallError`, when the system has no room for a thread (EAGAIN).
    package init(name: String, _ body: sending @escaping () -> Void) throws(SystemCallError) {
        let work = Unmanaged.passRetained(Work(name: name, body: body))
        var blocked = sigset_t()
        var former = sigset_t()
        sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] {
            sigdelset(&blocked, fault)
        }
        // A thread inherits the mask of the one that creates it, so there is no moment without the mask.
        pthread_sigmask(SIG_SETMASK, &blocked, &former)
        var handle = pthread_t()
        let result = pthread_create(&handle, nil, Self.runWork, work.toOpaque())
        pthread_sigmask(SIG_SETMASK, &former, nil)
        self.handle = handle
        guard result == 0 else {
            work.release()
            isJoined.store(true, ordering: .relaxed)
            throw SystemCallError(call: "pthread_create", errno: result)
        }
    }

    /// Waits for the end of the thread; returns at once when it was waited for before.
    ///
    /// The thread itself must not call this.
    package func join() {
        guard !isJoined.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let result = pthread_join(handle, nil)
        precondition(result == 0, "a thread does not wait for itself")
    }

    deinit {
        if !isJoined.load(ordering: .acquiring) { pthread_detach(handle) }
    }

    /// What the new thread takes over.
    private final class Work {
        let name: String
        let body: () -> Void

        init(name: String, body: @escaping () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// The first function of the new thread.
    private static let runWork: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        guard let work = $0.map({ Unmanaged<Work>.fromOpaque($0).takeRetainedValue() }) else { return nil }
        _ = work.name.withCString { linux_set_thread_name($0) }
        work.body()
        return nil
    }
}
