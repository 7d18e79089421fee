// SPDX-License-Identifier: MIT

internal import Glibc

/// Lets one thread wait until another has done something.
final class ThreadSemaphore: @unchecked Sendable {
    // Not a stored `sem_t`: the address must stay the same for the whole life.
    private let semaphore: UnsafeMutablePointer<sem_t>

    /// Creates a semaphore that nobody has signalled.
    init() {
        semaphore = .allocate(capacity: 1)
        semaphore.initialize(to: sem_t())
        sem_init(semaphore, 0, 0)
    }

    /// Lets one waiting thread go on, now or when it comes to wait.
    func signal() {
        sem_post(semaphore)
    }

    /// Waits for a signal.
    func wait() {
        while sem_wait(semaphore) != 0 {
            precondition(errno == EINTR, "only a signal of the process ends the wait early")
        }
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }
}
