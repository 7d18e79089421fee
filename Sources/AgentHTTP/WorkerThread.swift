// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// Threads that wait in C libraries, which must not hold up the threads that run tasks.
enum WorkerThread {
    /// Starts a thread that nobody waits for.
    ///
    /// Signals of the process never interrupt it; only those that a fault of its own raises reach it.
    ///
    /// - Parameters:
    ///   - name: Shown by `ps -L` and debuggers, at most 15 bytes.
    ///   - body: What the thread does; the thread ends with it.
    /// - Returns: Whether the system had room for a thread.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(name: name, body: body))
        let result = withSignalsBlocked {
            var handle = pthread_t()
            let result = pthread_create(&handle, nil, run, work.toOpaque())
            if result == 0 { pthread_detach(handle) }
            return result
        }
        if result != 0 { work.release() }
        return result == 0
    }

    /// Calls a function that starts threads; they inherit a mask with which no signal of the process reaches them.
    static func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
        var blocked = sigset_t()
        var former = sigset_t()
        sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] {
            sigdelset(&blocked, fault)
        }
        pthread_sigmask(SIG_SETMASK, &blocked, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        return body()
    }

    private final class Work: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        guard let work = $0.map({ Unmanaged<Work>.fromOpaque($0).takeRetainedValue() }) else { return nil }
        _ = work.name.withCString { linux_set_thread_name($0) }
        work.body()
        return nil
    }
}
