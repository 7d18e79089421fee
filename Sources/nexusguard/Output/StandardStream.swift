// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// Facts about the standard streams, and whole writes to them.
enum StandardStream {
    /// Whether a descriptor leads to a terminal.
    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Whether nobody reads standard output any more: the other end of a pipe is closed.
    static var isOutputClosed: Bool {
        var waiting = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&waiting, 1, 0) > 0 && waiting.revents & Int16(POLLERR) != 0
    }

    /// Writes a text to standard output.
    ///
    /// - Returns: Whether somebody still reads it; `false` when the reader of a pipe is gone.
    @discardableResult static func write(_ text: String) -> Bool {
        write(Array(text.utf8), to: STDOUT_FILENO)
    }

    /// Writes a sentence about what went wrong to standard error.
    static func writeError(_ sentence: String) {
        write(Array("nexusguard: \(sentence)\n".utf8), to: STDERR_FILENO)
    }

    /// Writes all bytes.
    ///
    /// - Returns: Whether all were taken.
    @discardableResult static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
