// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// Starts threads that no signal of the process interrupts.
///
/// A thread stays in the network namespace of the one that started it.
enum WorkThread {
    /// What a new thread takes over.
    private final class Work {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a thread that runs one function and ends with it.
    ///
    /// - Parameter name: Shown by `ps -L`; the kernel keeps the first 15 bytes.
    /// - Throws: `HostError.refused`, when there is no room for a thread.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(HostError) {
        let work = Unmanaged.passRetained(Work(name: name, body: body))
        var blocked = sigset_t()
        var former = sigset_t()
        sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] {
            sigdelset(&blocked, fault)
        }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // A thread inherits the mask of the one that creates it, so there is no moment without the mask.
        pthread_sigmask(SIG_SETMASK, &blocked, &former)
        var handle = pthread_t()
        let result = pthread_create(&handle, &attributes, run, work.toOpaque())
        pthread_sigmask(SIG_SETMASK, &former, nil)
        guard result == 0 else {
            work.release()
            throw .refused(operation: "pthread_create", errno: result, detail: nil)
        }
    }

    private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        guard let work = $0.map({ Unmanaged<Work>.fromOpaque($0).takeRetainedValue() }) else { return nil }
        _ = work.name.withCString { linux_set_thread_name($0) }
        work.body()
        return nil
    }
}
