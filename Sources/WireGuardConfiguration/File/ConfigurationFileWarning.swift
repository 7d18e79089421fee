// SPDX-License-Identifier: MIT

/// Something in a configuration file that is accepted but hardly meant; never holds a secret.
public struct ConfigurationFileWarning: Hashable, Sendable, CustomStringConvertible {
    /// The line, counted from 1.
    public let line: Int
    /// The key as its documentation spells it.
    public let key: String
    /// What is odd and what it is taken for.
    public let reason: String

    /// Creates a warning.
    package init(line: Int, key: String, reason: String) {
        self.line = line
        self.key = key
        self.reason = reason
    }

    /// The form `line 9: AllowedIPs: has no value, which gives the peer no addresses`.
    public var description: String { "line \(line): \(key): \(reason)" }
}
