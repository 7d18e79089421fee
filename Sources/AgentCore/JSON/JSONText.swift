// SPDX-License-Identifier: MIT

/// A string of a JSON document, in memory that is erased with its last owner, since it may be a key.
package struct JSONText: Sendable, CustomStringConvertible, CustomReflectable {
    /// The UTF-8 of the text, which is valid.
    package let utf8: SecretBytes

    /// Takes valid UTF-8.
    init(utf8: SecretBytes) {
        self.utf8 = utf8
    }

    /// The text as a `String`, which is not erased: for values that are no secret.
    package var string: String {
        utf8.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Says how many bytes there are and no more.
    package var description: String { "JSONText(\(utf8.count) bytes hidden)" }

    /// Shows nothing.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
