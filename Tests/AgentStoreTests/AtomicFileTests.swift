// SPDX-License-Identifier: MIT

import AgentCore
import AgentStore
import Glibc
import NexusGuard
import Testing

@Suite("a file that is always whole")
struct AtomicFileTests {
    let folder: TemporaryDirectory
    let log = RecordingLog()
    let state: StateDirectory
    let file: AtomicFile<NoteOne>

    init() throws {
        folder = try TemporaryDirectory()
        state = try openState(folder.path, log: log)
        file = noteFile(state)
    }

    /// What another process would find.
    private func loadAnew() throws -> NoteOne? { try noteFile(openState(folder.path, log: log)).load() }

    @Test("what was saved is loaded, and nothing before the first save")
    func roundTrip() throws {
        #expect(try file.load() == nil)
        try file.save(NoteOne("first"))
        #expect(try loadAnew() == NoteOne("first"))
        try file.save(NoteOne("second"))
        #expect(try loadAnew() == NoteOne("second"))
        #expect(try file.loadPrevious() == NoteOne("first"))
        #expect(folder.names == ["note.json", "note.prev.json"])
        #expect(folder.mode("note.json") == 0o600)
        #expect(state.health.isEmpty)
    }

    @Test("a file is one JSON object in one line, with its digest and version")
    func isJSON() throws {
        try file.save(NoteOne("a \"quoted\" text"))
        let text = folder.text("note.json")
        #expect(text.hasSuffix("}\n"))
        #expect(text.dropLast().contains("\n") == false)
        guard case .object(let members) = try JSONValue(parsing: Array(text.utf8)) else {
            Issue.record("no object")
            return
        }
        #expect(Set(members.keys) == ["sha256", "file", "version", "generation", "content"])
    }

    @Test("the digest in a file is the SHA-256 of all that follows it")
    func digest() throws {
        try file.save(NoteOne("x"))
        let text = folder.text("note.json")
        let covered = text.dropFirst(77)
        #expect(covered.hasPrefix("\"file\":"))
        // The digest function is tested against FIPS 180-4 where it is defined.
        let expected = Hexadecimal.text(CryptoManager.sha256(Array(covered.utf8)))
        #expect(text.hasPrefix("{\"sha256\":\"\(expected)\","))
    }

    @Test("saving what is stored already writes nothing and keeps the generation before")
    func sameAgain() throws {
        try file.save(NoteOne("old"))
        try file.save(NoteOne("new"))
        let before = folder.read("note.json")
        try file.save(NoteOne("new"))
        #expect(folder.read("note.json") == before)
        #expect(try file.loadPrevious() == NoteOne("old"))
    }

    @Test("rolling back stores the generation before, once")
    func rollBack() throws {
        #expect(try file.rollBack() == nil)
        try file.save(NoteOne("good"))
        #expect(try file.rollBack() == nil)
        try file.save(NoteOne("bad"))
        #expect(try file.rollBack() == NoteOne("good"))
        #expect(try loadAnew() == NoteOne("good"))
        #expect(try file.loadPrevious() == nil)
        #expect(try file.rollBack() == nil)
    }

    @Test("a zero-byte file beside a complete temporary one: the temporary one is used and becomes the file")
    func zeroByteBesideTemporary() throws {
        try file.save(NoteOne("kept"))
        let good = try #require(folder.read("note.json"))
        try folder.write("note.json.tmp", good)
        try folder.write("note.json", [])
        #expect(try loadAnew() == NoteOne("kept"))
        #expect(folder.read("note.json") == good)
        #expect(folder.names == ["note.json", "note.json.bad-1"])
        #expect(log.messages.contains { $0.contains("note.json is empty, and is kept as note.json.bad-1") })
    }

    @Test("a zero-byte file beside a good previous one: the previous one is used and stands twice again")
    func zeroByteBesidePrevious() throws {
        try file.save(NoteOne("older"))
        try file.save(NoteOne("newer"))
        try folder.write("note.json", [])
        let reopened = try openState(folder.path, log: log)
        #expect(try noteFile(reopened).load() == NoteOne("older"))
        #expect(reopened.health.map(\.code) == ["store-recovered"])
        #expect(try loadAnew() == NoteOne("older"))
        #expect(folder.names == ["note.json", "note.json.bad-1", "note.prev.json"])
    }

    @Test("half a temporary file beside a good one is ignored, and replaced by the next save")
    func halfTemporary() throws {
        try file.save(NoteOne("good"))
        let good = try #require(folder.read("note.json"))
        try folder.write("note.json.tmp", Array(good.dropLast(9)))
        #expect(try loadAnew() == NoteOne("good"))
        try file.save(NoteOne("next"))
        #expect(folder.names == ["note.json", "note.prev.json"])
    }

    @Test("when every copy is damaged the load gives nothing, says so, and deletes nothing")
    func allDamaged() throws {
        try file.save(NoteOne("one"))
        try file.save(NoteOne("two"))
        try folder.write("note.json", "{}")
        try folder.write("note.prev.json", "garbage")
        let reopened = try openState(folder.path, log: log)
        #expect(try noteFile(reopened).load() == nil)
        #expect(reopened.health.map(\.code) == ["store-damaged"])
        #expect(folder.text("note.json.bad-1") == "{}")
        #expect(folder.text("note.prev.json.bad-1") == "garbage")
        #expect(try noteFile(reopened).hasDamagedCopy())
    }

    @Test("damaged files get rising numbers, so that none replaces another")
    func risingNumbers() throws {
        for round in 1...3 {
            try file.save(NoteOne("round \(round)"))
            try folder.write("note.json", "damage \(round)")
            _ = try file.load()
        }
        for round in 1...3 { #expect(folder.text("note.json.bad-\(round)") == "damage \(round)") }
    }

    @Test("a save over a damaged file keeps the good generation before it")
    func saveOverDamage() throws {
        try file.save(NoteOne("good"))
        try file.save(NoteOne("lost"))
        try folder.write("note.json", "damage")
        try file.save(NoteOne("new"))
        #expect(folder.text("note.json.bad-1") == "damage")
        #expect(try loadAnew() == NoteOne("new"))
        #expect(try file.loadPrevious() == NoteOne("good"))
    }

    @Test(
        "a file on a bad block does not stop saves, and is kept", arguments: ["note.json", "note.json.tmp"])
    func badBlock(name: String) throws {
        try file.save(NoteOne("on a bad block"))
        if name != "note.json" { rename(folder.path("note.json"), folder.path(name)) }
        // The state directory takes two calls; the file is then opened, looked at and read.
        let position = name == "note.json" ? 4 : 6
        let broken = try openState(folder.path, fileSystem: FaultyFileSystem(.fail(EIO), at: position))
        try noteFile(broken).save(NoteOne("new"))
        #expect(try loadAnew() == NoteOne("new"))
        #expect(folder.text("\(name).bad-1").contains("on a bad block"))
    }

    @Test("a symbolic link in the place of a file is not followed")
    func symbolicLink() throws {
        let elsewhere = try TemporaryDirectory()
        try noteFile(openState(elsewhere.path)).save(NoteOne("foreign"))
        try file.save(NoteOne("own"))
        try file.save(NoteOne("newest"))
        unlink(folder.path("note.json"))
        symlink(elsewhere.path("note.json"), folder.path("note.json"))
        symlink(elsewhere.path("victim"), folder.path("note.json.tmp"))
        #expect(try loadAnew() == NoteOne("own"))
        try file.save(NoteOne("written"))
        #expect(try loadAnew() == NoteOne("written"))
        #expect(elsewhere.names == ["note.json"])
        #expect(folder.names.contains("note.json.bad-1"))
    }

    @Test("a file of another kind or one that others can write is not taken")
    func foreignFiles() throws {
        let other = AtomicFile(
            "other.json", kind: "other", format: StoredFormat(NoteOne.self), in: state)
        try other.save(NoteOne("of another kind"))
        try folder.write("note.json", try #require(folder.read("other.json")))
        #expect(try file.load() == nil)
        try file.save(NoteOne("writable"))
        try #require(chmod(folder.path("note.json"), 0o666) == 0)
        #expect(try noteFile(state).load() == nil)
        #expect(folder.names.filter { $0.contains(".bad-") }.count == 2)
    }

    @Test("a file that others could read is closed to them")
    func closesFile() throws {
        try file.save(NoteOne("restored from a backup"))
        try #require(chmod(folder.path("note.json"), 0o644) == 0)
        #expect(try file.load() == NoteOne("restored from a backup"))
        #expect(folder.mode("note.json") == 0o600)
    }

    @Test("clearing removes every copy, the damaged ones included, and nothing of other files")
    func clear() throws {
        let other = AtomicFile("other.json", kind: "other", format: StoredFormat(NoteOne.self), in: state)
        try other.save(NoteOne("stays"))
        try file.save(NoteOne("one"))
        try file.save(NoteOne("two"))
        try folder.write("note.json.tmp", "half")
        try folder.write("note.json.bad-4", "damaged")
        try file.clear()
        #expect(folder.names == ["other.json"])
        #expect(try file.load() == nil)
        try file.clear()
    }

    @Test("saves from many threads leave one of the values, whole")
    func manyThreads() async throws {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask { [file] in try? file.save(NoteOne(String(repeating: "\(number);", count: 500)))
                }
            }
        }
        let text = try #require(try loadAnew()).text
        let parts = Set(text.split(separator: ";"))
        #expect(parts.count == 1)
        #expect(text.split(separator: ";").count == 500)
    }
}
