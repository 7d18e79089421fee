// SPDX-License-Identifier: MIT

/// Keeps the journal of changes to the host over the end of the process.
public protocol JournalStorage: Sendable {
    /// Replaces what is kept; when the call returns it is on the disk. Empty bytes remove it.
    ///
    /// - Throws: `HostError.journal`; what was kept before is then still there.
    func save(_ bytes: [UInt8]) throws(HostError)

    /// What is kept; `nil` when there is nothing.
    ///
    /// - Throws: `HostError.journal`.
    func load() throws(HostError) -> [UInt8]?

    /// Moves away what is kept because it can not be read, so that a person can look at it.
    func setAside()
}
