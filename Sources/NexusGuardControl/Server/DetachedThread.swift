// SPDX-License-Identifier: MIT

internal import Glibc

/// Threads for calls that block, which the threads of tasks must not make.
enum DetachedThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// Runs `body` on a thread of its own, or here when the system has no room for one.
    static func start(_ body: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let result = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, argument.toOpaque())
        if result != 0 { argument.takeRetainedValue().body() }
    }

    /// Runs `body` on a thread of its own and waits for it without blocking.
    static func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            start {
                body()
                continuation.resume()
            }
        }
    }
}
