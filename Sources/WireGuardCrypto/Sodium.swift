// SPDX-License-Identifier: MIT

internal import CSodium

/// Access to libsodium, which must be initialised before its first use.
package enum Sodium {
    /// Whether libsodium chose its fast implementations for this processor.
    ///
    /// Without `sodium_init` libsodium works, but with its slow portable code and without a random source.
    private static let ready: Bool = sodium_init() >= 0

    /// Initialises libsodium once; every later call costs one load and one comparison.
    package static func initialize() {
        guard ready else {
            preconditionFailure("libsodium could not be initialised: the system has no random source")
        }
    }
}
