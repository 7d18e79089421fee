// SPDX-License-Identifier: MIT

internal import CLinux

/// A system call that the kernel refused.
package struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the call, and its most telling argument where one name has many uses.
    package let call: String
    /// The error number.
    package let errno: Int32

    /// A refusal of `call` with the error number `errno`.
    package init(call: String, errno: Int32) {
        self.call = call
        self.errno = errno
    }

    /// The form `bind: Address already in use (EADDRINUSE)`.
    package var description: String {
        guard let text = strerrordesc_np(errno) else { return "\(call): error \(errno)" }
        guard let name = strerrorname_np(errno) else { return "\(call): \(String(cString: text))" }
        return "\(call): \(String(cString: text)) (\(String(cString: name)))"
    }
}
