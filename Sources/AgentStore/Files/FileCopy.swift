// SPDX-License-Identifier: MIT

internal import AgentCore
internal import Glibc

/// The names of the copies of one file.
struct FileNames: Sendable {
    /// The newest generation.
    let main: String
    /// The generation before it.
    let previous: String
    /// A generation that is being written.
    let temporary: String

    /// Names the copies: `tunnel.json`, `tunnel.prev.json` and `tunnel.json.tmp`.
    init(_ main: String) {
        self.main = main
        temporary = "\(main).tmp"
        if let dot = main.lastIndex(of: ".") {
            previous = "\(main[..<dot]).prev\(main[dot...])"
        } else {
            previous = "\(main).prev"
        }
    }

    /// Whether a name is that of a copy, or of a damaged one that was set aside.
    func include(_ name: String) -> Bool {
        [main, previous, temporary].contains(name) || isDamagedCopy(name)
    }

    /// Whether a name is that of a damaged copy that was set aside.
    func isDamagedCopy(_ name: String) -> Bool {
        [main, previous, temporary].contains { name.hasPrefix("\($0).bad-") }
    }
}

/// A good copy of a file.
struct FileCopy<Form: StoredForm>: Sendable {
    /// What it holds, brought up to the present version.
    let form: Form
    /// The content as it was written.
    let content: ErasedBuffer
    /// The version as it was written.
    let version: Int
    /// Rises with each save.
    let generation: UInt64
    /// Whether it was encrypted.
    let isSealed: Bool
}

/// What stands under the name of a copy.
enum FileCopyState<Form: StoredForm>: Sendable {
    /// Nothing.
    case absent
    /// A good copy.
    case good(FileCopy<Form>)
    /// Something that was not written so; the text says what is wrong with it.
    case bad(String)
    /// Something that cannot be read.
    case unreadable(FileError)

    /// The copy, if it is good.
    var copy: FileCopy<Form>? {
        guard case .good(let copy) = self else { return nil }
        return copy
    }
}

/// What one directory holds of a file.
struct FileSurvey<Form: StoredForm>: Sendable {
    /// Which copy is the one to use.
    enum Origin: Sendable {
        case main, previous, temporary
    }

    /// The directory.
    let place: OpenDirectory
    /// The newest generation.
    var main: FileCopyState<Form>
    /// The generation before it; looked at only when the newest is no good.
    var previous: FileCopyState<Form> = .absent
    /// A generation whose writing was interrupted; looked at only when both others are no good.
    var temporary: FileCopyState<Form> = .absent

    /// The copy to use, and which it is.
    var best: (copy: FileCopy<Form>, origin: Origin)? {
        if let copy = main.copy { return (copy, .main) }
        if let copy = previous.copy { return (copy, .previous) }
        if let copy = temporary.copy { return (copy, .temporary) }
        return nil
    }

    /// Why it is not known whether there is a good copy; `nil` when that is known.
    var fault: FileError? {
        guard best == nil else { return nil }
        for state in [main, previous, temporary] {
            if case .unreadable(let error) = state { return error }
        }
        return nil
    }

    /// Looks at the copies in the order main, previous, temporary until one is good.
    ///
    /// - Throws: What `look` throws; the error of a copy that cannot be read where the disk is not at fault: an
    ///   older generation must not come up because memory ran out.
    init(
        of place: OpenDirectory, names: FileNames,
        look: (String) throws(StoreProblem) -> FileCopyState<Form>
    ) throws(StoreProblem) {
        self.place = place
        main = try Self.looked(names.main, look)
        if main.copy != nil { return }
        previous = try Self.looked(names.previous, look)
        if previous.copy != nil { return }
        temporary = try Self.looked(names.temporary, look)
    }

    private static func looked(
        _ name: String, _ look: (String) throws(StoreProblem) -> FileCopyState<Form>
    ) throws(StoreProblem) -> FileCopyState<Form> {
        let state = try look(name)
        // EUCLEAN is what file systems report for structures that fail their checksum.
        if case .unreadable(let error) = state, ![EIO, EBADMSG, EUCLEAN].contains(error.number) {
            throw .file(error)
        }
        return state
    }
}
