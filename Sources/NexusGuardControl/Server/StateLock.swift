// SPDX-License-Identifier: MIT

internal import Glibc

/// Makes sure that one server at a time runs with a state directory; held until it is gone.
final class StateLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Throws: `ServeError.failed` when another server has it.
    init(directory: String) throws(ServeError) {
        let path = "\(directory)/serve.lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .failed("\(path): \(String(cString: strerror(errno)))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            close(descriptor)
            throw .failed(
                number == EWOULDBLOCK
                    ? "another server runs with the state in \(directory)"
                    : "\(path): \(String(cString: strerror(number)))")
        }
    }

    deinit {
        // Closing is not enough: a child that was forked meanwhile has the descriptor too, up to its exec.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
