// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// The end of every answer of the cross-platform userspace interface.
package enum UAPIReply {
    /// Adds `errno=` with the status, and the empty line that ends the answer.
    package static func append(_ status: UAPIStatus, to buffer: inout SecretBuffer) {
        buffer.append("errno=")
        if status.rawValue < 0 { buffer.append(byte: UInt8(ascii: "-")) }
        buffer.append(decimal: UInt64(status.rawValue.magnitude))
        buffer.append("\n\n")
    }

    /// The whole answer to a set operation, or to a get operation that failed.
    package static func text(_ status: UAPIStatus) -> SecretBuffer {
        var buffer = SecretBuffer(capacity: 64)
        append(status, to: &buffer)
        return buffer
    }
}
