// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// A doorbell between threads that `Epoll` can wait for.
///
/// Any thread may ring it; the thread that waits for it silences it. Many rings before that are one.
package struct EventFD: ~Copyable, Sendable {
    /// The descriptor to wait for; readable while the bell rings.
    package let descriptor: Int32

    /// Creates a silent bell.
    ///
    /// - Throws: `SystemCallError`, when there are no descriptors left.
    package init() throws(SystemCallError) {
        descriptor = try SystemCall.run("eventfd") { eventfd(0, linux_eventfd_flags) }
    }

    /// Rings; never blocks.
    package borrowing func ring() {
        var one: UInt64 = 1
        // The only refusal is a counter near its maximum (EAGAIN), and then the bell rings already.
        _ = SystemCall.orNegativeErrno { write(descriptor, &one, 8) }
    }

    /// Silences the bell, and says whether it rang.
    @discardableResult
    package borrowing func silence() -> Bool {
        var count: UInt64 = 0
        return SystemCall.orNegativeErrno { read(descriptor, &count, 8) } == 8
    }

    deinit {
        SystemCall.close(descriptor)
    }
}
