// SPDX-License-Identifier: MIT

/// Why a request of the cross-platform userspace interface is refused; never holds a secret.
package struct UAPIError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number that the answer gives to the client.
    package var status: UAPIStatus
    /// The line of the set operation, counted from 1 for the line behind `set=1`.
    package var line: Int
    /// The key of that line, or `(no key)` when the line has none that can be shown.
    package var key: String
    /// What is wrong, without the value of any key.
    package var reason: String

    /// Creates an error.
    package init(_ status: UAPIStatus, line: Int, key: String, reason: String) {
        self.status = status
        self.line = line
        self.key = key
        self.reason = reason
    }

    /// The line, the key and the reason.
    package var description: String { "line \(line): \(key): \(reason)" }
}
