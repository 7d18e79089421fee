// SPDX-License-Identifier: MIT

/// Why a configuration file is refused as a whole; never holds a key or any other secret.
public struct ConfigurationFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, counted from 1; for something that is missing, the line of its section.
    public let line: Int
    /// The key as its documentation spells it, a section such as `[Peer]`, or `(no key)`.
    public let key: String
    /// What is wrong, as the end of a sentence that the key begins.
    public let reason: String

    /// Creates an error.
    package init(line: Int, key: String, reason: String) {
        self.line = line
        self.key = key
        self.reason = reason
    }

    /// The form `line 7: Endpoint: needs brackets around its IPv6 address: [address]:port`.
    public var description: String { "line \(line): \(key): \(reason)" }
}
