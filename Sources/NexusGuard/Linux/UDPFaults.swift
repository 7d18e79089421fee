// SPDX-License-Identifier: MIT

/// Refusals of the kernel that a test wants to see handled; empty in use.
package struct UDPFaults {
    /// One call that is about to be made to the kernel.
    package struct SendAttempt: Hashable, Sendable {
        /// The number of datagrams; more than one are sent with segmentation.
        package let datagramCount: Int
        /// The number of bytes of all datagrams.
        package let byteCount: Int
        /// Whether the call names this host's address.
        package let namesSource: Bool

        /// Describes one call.
        package init(datagramCount: Int, byteCount: Int, namesSource: Bool) {
            self.datagramCount = datagramCount
            self.byteCount = byteCount
            self.namesSource = namesSource
        }
    }

    /// Called instead of `socket` with whether IPv6 is wanted; an error number refuses, `nil` goes on.
    package var onSocket: ((Bool) -> Int32?)?
    /// Called before each send; an error number refuses, `nil` goes on.
    package var onSend: ((SendAttempt) -> Int32?)?

    /// No faults.
    package init() {}
}
