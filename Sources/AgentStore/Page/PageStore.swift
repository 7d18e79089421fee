// SPDX-License-Identifier: MIT

package import AgentCore

/// Keeps what of the page outlives a restart of the agent, in `ui-sessions.json`.
///
/// Only digests are in it: who reads the file gets no session by that.
package final class PageStore: Sendable {
    private let file: AtomicFile<PageSessionsFormOne>

    /// Creates a store in a directory; reads and writes nothing yet.
    package init(directory: StateDirectory) {
        // No older generation may come up again: a session in it may have ended since.
        file = AtomicFile(
            "ui-sessions.json", kind: "page", format: StoredFormat(PageSessionsFormOne.self), in: directory,
            options: .init(keepsPrevious: false))
    }

    /// Writes what there is.
    package func save(_ page: StoredPage) throws(AgentError) { try file.save(PageSessionsFormOne(page)) }

    /// What was written last; `nil` when nothing was, and when the file is damaged.
    package func load() throws(AgentError) -> StoredPage? { try file.load()?.page }

    /// Forgets everything.
    package func clear() throws(AgentError) { try file.clear() }
}
