// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import Synchronization

/// A thread that carries out one piece of work after the other, each of which may block.
///
/// Calls of the tunnel engine and of the kernel that wait would hold up the few threads of the concurrency
/// runtime. The thread stays in the network namespace of the one that made it.
public final class HostThread: Sendable {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var hasEnded = false
    }

    /// What the thread holds, so that this object can go while it runs.
    private final class Queue: Sendable {
        let state = Mutex(State())
        /// Counts the pieces of work that wait.
        let bell: Int32

        init(bell: Int32) {
            self.bell = bell
        }

        deinit {
            close(bell)
        }

        func run() {
            while true {
                let (work, hasEnded) = state.withLock { state in
                    defer { state.work = [] }
                    return (state.work, state.hasEnded)
                }
                for piece in work { piece() }
                if !work.isEmpty { continue }
                if hasEnded { return }
                var count: UInt64 = 0
                // Whatever ends the wait, there may be work.
                _ = read(bell, &count, MemoryLayout<UInt64>.size)
            }
        }

        func add(_ piece: (@Sendable () -> Void)?) {
            state.withLock { state in
                if let piece { state.work.append(piece) } else { state.hasEnded = true }
            }
            var one: UInt64 = 1
            _ = write(bell, &one, MemoryLayout<UInt64>.size)
        }
    }

    private let queue: Queue

    /// Starts the thread.
    ///
    /// - Parameter name: Shown by `ps -L`; the kernel keeps the first 15 bytes.
    /// - Throws: `HostError.refused`, when there is no room for a thread or a descriptor.
    public init(name: String) throws(HostError) {
        let bell = eventfd(0, linux_eventfd_blocking_flags)
        guard bell >= 0 else { throw .refused(operation: "eventfd", errno: errno, detail: nil) }
        let queue = Queue(bell: bell)
        self.queue = queue
        try WorkThread.start(name) { queue.run() }
    }

    deinit {
        queue.add(nil)
    }

    /// Runs `body` on the thread, after all that was given to it before.
    public func perform<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.add { continuation.resume(returning: body()) }
        }
    }

    /// Gives `body` to the thread and does not wait for it.
    public func enqueue(_ body: @escaping @Sendable () -> Void) {
        queue.add(body)
    }
}
