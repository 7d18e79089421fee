// SPDX-License-Identifier: MIT

internal import CLinux

/// A call of the file system that failed.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the call, such as `fsync`.
    package let call: String
    /// The error number.
    package let number: Int32

    /// Creates an error.
    package init(call: String, number: Int32) {
        self.call = call
        self.number = number
    }

    /// The call and what the system says of the number.
    package var description: String {
        guard let text = strerrordesc_np(number) else { return "\(call): error number \(number)" }
        return "\(call): \(String(cString: text))"
    }
}
