// SPDX-License-Identifier: MIT

import AgentCore
import AgentStore
import NexusGuard
import Synchronization

/// A content that is one text; its first version.
struct NoteOne: StoredForm, Equatable {
    static let version = 1
    let text: String

    init(_ text: String) { self.text = text }

    init(content: ErasedBuffer) throws(StoredFormError) {
        let fields = try noteFields(content)
        guard fields.count == 1, let text = fields["text"] else { throw StoredFormError("has no text") }
        self.text = text
    }

    func content() -> ErasedBuffer { noteContent(["text": text]) }
}

/// The second version: the text is called otherwise.
struct NoteTwo: StoredForm, Equatable {
    static let version = 2
    let title: String

    init(_ title: String) { self.title = title }

    init(content: ErasedBuffer) throws(StoredFormError) {
        let fields = try noteFields(content)
        guard fields.count == 1, let title = fields["title"] else { throw StoredFormError("has no title") }
        self.title = title
    }

    func content() -> ErasedBuffer { noteContent(["title": title]) }
}

/// The third version: it has a length besides.
struct NoteThree: StoredForm, Equatable {
    static let version = 3
    let title: String
    let length: Int

    init(title: String, length: Int) {
        self.title = title
        self.length = length
    }

    init(content: ErasedBuffer) throws(StoredFormError) {
        let fields = try noteFields(content)
        guard let title = fields["title"], let length = fields["length"].flatMap({ Int($0) }) else {
            throw StoredFormError("has no length")
        }
        self.init(title: title, length: length)
    }

    func content() -> ErasedBuffer { noteContent(["title": title, "length": String(length)]) }
}

private func noteFields(_ content: ErasedBuffer) throws(StoredFormError) -> [String: String] {
    do {
        guard case .object(let members) = try JSONValue(parsing: content.array()) else {
            throw StoredFormError("is no object")
        }
        return members.compactMapValues { value in
            guard case .string(let text) = value else { return nil }
            return text.string
        }
    } catch {
        throw StoredFormError("is no JSON")
    }
}

private func noteContent(_ fields: [String: String]) -> ErasedBuffer {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
    writer.endObject()
    var bytes = writer.finish()
    return ErasedBuffer(erasing: &bytes)
}

/// Remembers what was logged.
final class RecordingLog: LogSink {
    private let lines = Mutex<[(level: LogLevel, message: String)]>([])

    var messages: [String] { lines.withLock { $0.map(\.message) } }

    func add(level: LogLevel, tag: String, message: String) {
        lines.withLock { $0.append((level, message)) }
    }
}

/// A state directory and its file of notes.
func noteFile(
    _ directory: StateDirectory, options: AtomicFile<NoteOne>.Options = .init()
) -> AtomicFile<NoteOne> {
    AtomicFile("note.json", kind: "note", format: StoredFormat(NoteOne.self), in: directory, options: options)
}

/// Opens a state directory over a file system of the test.
func openState(
    _ path: String, fallback: String? = nil, hostKeyFile: String? = nil, log: (any LogSink)? = nil,
    fileSystem: any FileSystem = PosixFileSystem()
) throws(AgentError) -> StateDirectory {
    try StateDirectory(
        path: path, fallback: fallback, hostKeyFile: hostKeyFile, log: log, fileSystem: fileSystem)
}
