// SPDX-License-Identifier: MIT

import AgentCore
import AgentStore
import NexusGuard
import Testing

@Suite("versions of stored files")
struct MigrationTests {
    let folder: TemporaryDirectory
    let state: StateDirectory
    let log = RecordingLog()

    static let two = StoredFormat(NoteOne.self).then(NoteTwo.self) { NoteTwo($0.text) }
    static let three = two.then(NoteThree.self) { (two) throws(StoredFormError) in
        if two.title.isEmpty { throw StoredFormError("has an empty title") }
        return NoteThree(title: two.title, length: two.title.utf8.count)
    }

    init() throws {
        folder = try TemporaryDirectory()
        state = try openState(folder.path, log: log)
    }

    private func file<Form: StoredForm>(_ format: StoredFormat<Form>) -> AtomicFile<Form> {
        AtomicFile("note.json", kind: "note", format: format, in: state)
    }

    @Test("a file of an older version is brought up through each version between")
    func chain() throws {
        try noteFile(state).save(NoteOne("hello"))
        #expect(try file(Self.two).load() == NoteTwo("hello"))
        #expect(try file(Self.three).load() == NoteThree(title: "hello", length: 5))
        // Reading alone does not take an older agent's file away from it.
        #expect(try noteFile(state).load() == NoteOne("hello"))
    }

    @Test("the next save writes the present version and keeps the older file as the previous generation")
    func writesPresent() throws {
        try noteFile(state).save(NoteOne("hello"))
        try file(Self.two).save(NoteTwo("hello"))
        #expect(folder.text("note.json").contains("\"version\":2,"))
        #expect(folder.text("note.prev.json").contains("\"version\":1,"))
        #expect(try file(Self.three).load() == NoteThree(title: "hello", length: 5))
    }

    @Test(
        "a file of a newer version is refused with a clear message, and neither read, moved nor overwritten")
    func newer() throws {
        try file(Self.three).save(NoteThree(title: "from the future", length: 15))
        let before = folder.read("note.json")
        let old = noteFile(state)
        for attempt in [
            { _ = try old.load() }, { try old.save(NoteOne("older agent")) }, { _ = try old.rollBack() },
        ] {
            let error = #expect(throws: AgentError.self) { try attempt() }
            #expect(error?.code == "store-unusable")
            #expect(error?.description.contains("version 3 and this agent reads up to 1") == true)
            #expect(error?.description.contains(folder.path("note.json")) == true)
        }
        #expect(folder.names == ["note.json"])
        #expect(folder.read("note.json") == before)
        #expect(log.messages.isEmpty)
    }

    @Test("a newer version behind a damaged file is refused as well")
    func newerPrevious() throws {
        try file(Self.three).save(NoteThree(title: "a", length: 1))
        try file(Self.three).save(NoteThree(title: "b", length: 1))
        try folder.write("note.json", "damage")
        #expect(throws: AgentError.self) { try noteFile(state).load() }
        #expect(throws: AgentError.self) { try noteFile(state).save(NoteOne("x")) }
        #expect(folder.names == ["note.json", "note.prev.json"])
    }

    @Test("a content that a migration cannot use, or of a version that never was, counts as damaged")
    func unusable() throws {
        try noteFile(state).save(NoteOne("good"))
        try noteFile(state).save(NoteOne(""))
        #expect(try file(Self.three).load() == NoteThree(title: "good", length: 4))
        let gap = StoredFormat(NoteThree.self)
        try noteFile(state).save(NoteOne("of a version that the format does not know"))
        #expect(try file(gap).load() == nil)
    }

    @Test("what could not be read again is not written")
    func notReadable() throws {
        struct Fussy: StoredForm {
            static let version = 1
            let text: String
            init(_ text: String) { self.text = text }
            init(content: ErasedBuffer) throws(StoredFormError) { throw StoredFormError("is never right") }
            func content() -> ErasedBuffer { NoteOne(text).content() }
        }
        #expect(throws: AgentError.configInvalid(field: "note", reason: "cannot be stored: is never right")) {
            try file(StoredFormat(Fussy.self)).save(Fussy("x"))
        }
        #expect(folder.names.isEmpty)
    }
}
