// SPDX-License-Identifier: MIT

/// How a request ended, as the `errno=` line of its answer says: zero, or a negated Linux error number.
package struct UAPIStatus: RawRepresentable, Hashable, Sendable {
    /// The number as it is sent.
    package var rawValue: Int32

    /// Wraps a number as it is sent.
    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The status of a system call's error number, which is positive.
    package init(errno: Int32) {
        rawValue = errno > 0 ? -errno : errno
    }

    /// The request was done.
    package static let success = UAPIStatus(rawValue: 0)
    /// An unknown key, a key in the wrong section, or a value that the key does not take (EINVAL).
    package static let invalid = UAPIStatus(rawValue: -22)
    /// A line that is not `key=value`, or a request cut short (EPROTO).
    package static let brokenProtocol = UAPIStatus(rawValue: -71)
    /// The request exceeds what the reader holds (E2BIG).
    package static let tooLarge = UAPIStatus(rawValue: -7)
    /// The listen port is taken by another socket (EADDRINUSE).
    package static let portInUse = UAPIStatus(rawValue: -98)
    /// The connection failed while the request was read (EIO).
    package static let inputOutput = UAPIStatus(rawValue: -5)
}
