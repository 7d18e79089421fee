// SPDX-License-Identifier: MIT

/// Why a command line makes no sense.
package struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence that names the culprit.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
