// SPDX-License-Identifier: MIT

package import AgentCore
internal import Synchronization

/// A small file that is always whole: each save leaves the old generation or the new one, never a mix.
///
/// A save writes a temporary file and waits for the disk, renames the file to its previous generation,
/// renames the temporary one to the file and waits again. A load takes the file, else the previous
/// generation, else a complete temporary file. A damaged copy is renamed and never deleted. A file of a newer
/// version is neither read nor touched.
package final class AtomicFile<Form: StoredForm>: Sendable {
    /// What the file is for.
    package struct Options: Sendable {
        /// Whether a save keeps the generation before it.
        package var keepsPrevious = true
        /// Whether the file is encrypted when the directory has a host key.
        package var isSecret = false
        /// Whether both generations hold the same, for a file that is written once.
        package var keepsTwin = false

        /// The options of a file that is no secret.
        package init(keepsPrevious: Bool = true, isSecret: Bool = false, keepsTwin: Bool = false) {
            self.keepsPrevious = keepsPrevious
            self.isSecret = isSecret
            self.keepsTwin = keepsTwin
        }
    }

    let names: FileNames
    let kind: String
    let format: StoredFormat<Form>
    let directory: StateDirectory
    let options: Options
    private let turn = Mutex(())

    /// Creates a file; reads and writes nothing yet.
    ///
    /// - Parameter kind: A word for what it holds, which never changes.
    package init(
        _ name: String, kind: String, format: StoredFormat<Form>, in directory: StateDirectory,
        options: Options = Options()
    ) {
        names = FileNames(name)
        self.kind = kind
        self.format = format
        self.directory = directory
        self.options = options
    }

    /// What was saved last; `nil` when nothing was, and when every copy is damaged, which is reported.
    package func load() throws(AgentError) -> Form? {
        try inTurn { () throws(StoreProblem) in try loadNewest() }
    }

    /// Whether a damaged copy was set aside, now or in an earlier run.
    package func hasDamagedCopy() throws(AgentError) -> Bool {
        try inTurn { () throws(StoreProblem) in
            let places = [try primaryIfThere(), directory.standIn(isNeeded: false)].compactMap(\.self)
            return try asStoreProblem { () throws(FileError) in
                for place in places where try place.names().contains(where: { names.isDamagedCopy($0) }) {
                    return true
                }
                return false
            }
        }
    }

    /// What was saved before the last.
    package func loadPrevious() throws(AgentError) -> Form? {
        try inTurn { () throws(StoreProblem) in try copyBeforeNewest()?.form }
    }

    /// Saves; after the return it survives a crash.
    ///
    /// Nothing is written when the same is stored already.
    ///
    /// - Throws: `AgentError.configInvalid` for what could not be read again; nothing is changed then.
    package func save(_ form: Form) throws(AgentError) {
        let content = form.content()
        do {
            _ = try format.read(Form.version, content)
        } catch {
            throw .configInvalid(field: kind, reason: "cannot be stored: \(error.reason)")
        }
        try inTurn { () throws(StoreProblem) in try store(content, keepsPrevious: options.keepsPrevious) }
    }

    /// Saves what was saved before the last, and drops the last.
    ///
    /// - Returns: What is stored now; `nil`, with nothing changed, when there is nothing older.
    package func rollBack() throws(AgentError) -> Form? {
        try inTurn { () throws(StoreProblem) in
            guard let copy = try copyBeforeNewest() else { return nil }
            try store(copy.form.content(), keepsPrevious: false)
            return copy.form
        }
    }

    /// Removes every copy, the damaged ones included.
    package func clear() throws(AgentError) {
        try inTurn { () throws(StoreProblem) in
            if let place = try primaryIfThere() { try removeCopies(in: place) }
            if let place = directory.standIn(isNeeded: false) { try removeCopies(in: place) }
            directory.monitor.noteInPlace(names.main, path: directory.path)
        }
    }

    /// The directory itself; `nil` when it has never been made.
    func primaryIfThere() throws(StoreProblem) -> OpenDirectory? {
        do {
            return try directory.primary()
        } catch {
            // What could not be made does not exist, and what does not exist holds nothing.
            guard case .file(let problem) = error, problem.call == "mkdir" else { throw error }
            return nil
        }
    }

    /// Removes the copies in one directory, the newest last: no older one may come up after a crash.
    func removeCopies(in place: OpenDirectory) throws(StoreProblem) {
        try asStoreProblem { () throws(FileError) in
            let found = try place.names().filter { names.include($0) }
            guard !found.isEmpty else { return }
            for name in found where name != names.main { try place.removeIfPresent(name) }
            try place.removeIfPresent(names.main)
            try place.synchronize()
        }
    }

    private func inTurn<Result>(
        _ body: () throws(StoreProblem) -> Result
    ) throws(AgentError) -> Result {
        try turn.withLock { (_) throws(AgentError) in
            do throws(StoreProblem) {
                return try body()
            } catch {
                throw error.agentError
            }
        }
    }
}
