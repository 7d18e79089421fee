// SPDX-License-Identifier: MIT

import AgentCore
import AgentStore
import Glibc
import NexusGuard
import Testing

@Suite("the state directory")
struct StateDirectoryTests {
    let folder: TemporaryDirectory
    let log = RecordingLog()

    init() throws {
        folder = try TemporaryDirectory()
    }

    private var path: String { folder.path("state") }

    @Test("it is made with mode 0700, and closed to others when they could read it")
    func mode() throws {
        _ = try StateDirectory(path: path)
        #expect(folder.mode("state") == 0o700)
        try #require(chmod(path, 0o755) == 0)
        _ = try StateDirectory(path: path)
        #expect(folder.mode("state") == 0o700)
    }

    @Test("one that others may write is refused and left as it is", arguments: [0o770, 0o777, 0o1777, 0o702])
    func writable(mode: Int) throws {
        try #require(mkdir(path, 0o700) == 0 && chmod(path, mode_t(mode)) == 0)
        let error = #expect(throws: AgentError.self) { try StateDirectory(path: path) }
        #expect(error?.code == "store-unusable")
        #expect(error?.description.contains("may be written by others") == true)
        #expect(folder.mode("state") == mode_t(mode))
    }

    @Test("one of another user is refused, with the way to change that", .needsRoot)
    func foreign() throws {
        try #require(mkdir(path, 0o700) == 0 && chown(path, 54321, 54321) == 0)
        let error = #expect(throws: AgentError.self) { try StateDirectory(path: path) }
        #expect(error?.code == "store-unusable")
        #expect(error?.description.contains("belongs to user 54321") == true)
        #expect(error?.description.contains("chown") == true)
    }

    @Test("a symbolic link or a file in its place is refused", arguments: ["", "/"])
    func link(tail: String) throws {
        try #require(mkdir(folder.path("real"), 0o700) == 0)
        try #require(symlink(folder.path("real"), path) == 0)
        let error = #expect(throws: AgentError.self) { try StateDirectory(path: path + tail) }
        #expect(error?.code == "store-unusable")
        try folder.write("file", "x")
        #expect(throws: AgentError.self) { try StateDirectory(path: folder.path("file")) }
        #expect(folder.text("file") == "x")
    }

    @Test("where it cannot be made, what is saved goes to a closed directory in the one that stands in")
    func fallback() throws {
        let runtime = try TemporaryDirectory()
        try #require(chmod(runtime.path, 0o755) == 0)
        let state = try openState(folder.path("missing/state"), fallback: runtime.path, log: log)
        #expect(state.isDegraded)
        #expect(state.health.map(\.code) == ["store-degraded"])
        #expect(runtime.mode("store") == 0o700)
        try noteFile(state).save(NoteOne("volatile"))
        #expect(runtime.mode("store/note.json") == 0o600)
        let again = try openState(folder.path("missing/state"), fallback: runtime.path)
        #expect(try noteFile(again).load() == NoteOne("volatile"))
        // The parent comes, as with a late mount: everything moves home.
        try #require(mkdir(folder.path("missing"), 0o700) == 0)
        #expect(try noteFile(state).load() == NoteOne("volatile"))
        #expect(!state.isDegraded)
        #expect(state.health.isEmpty)
        #expect(folder.read("missing/state/note.json") != nil)
        #expect(runtime.mode("store/note.json") == nil)
    }

    @Test("without any usable directory it does not open, and the error number says why")
    func neither() throws {
        #expect(throws: AgentError.secretStore(ENOENT)) {
            try StateDirectory(path: folder.path("missing/state"))
        }
        #expect(throws: AgentError.secretStore(ENOENT)) {
            try StateDirectory(path: folder.path("missing/state"), fallback: folder.path("gone"))
        }
    }

    @Test(
        "while it cannot be written, saves go to the one that stands in and loads find them; then they come home",
        arguments: [EROFS, ENOSPC, EIO, EACCES])
    func cannotBeWritten(number: Int32) throws {
        let runtime = try TemporaryDirectory()
        let system = ReadOnlyFileSystem()
        let state = try openState(path, fallback: runtime.path, log: log, fileSystem: system)
        let file = noteFile(state)
        try file.save(NoteOne("first"))
        #expect(runtime.names.isEmpty)

        system.setFault(number, of: path)
        try file.save(NoteOne("second"))
        #expect(state.isDegraded)
        #expect(state.health.map(\.code) == ["store-degraded"])
        #expect(try file.load() == NoteOne("second"))
        #expect(try file.loadPrevious() == NoteOne("first"))
        let restarted = try openState(path, fallback: runtime.path, fileSystem: system)
        #expect(try noteFile(restarted).load() == NoteOne("second"))
        try file.save(NoteOne("third"))

        system.setFault(nil, of: path)
        #expect(try file.load() == NoteOne("third"))
        #expect(!state.isDegraded)
        #expect(state.health.isEmpty)
        #expect(runtime.mode("store/note.json") == nil)
        #expect(try noteFile(openState(path)).load() == NoteOne("third"))
        #expect(log.messages.contains { $0.contains("is stored in") && $0.contains("again") })
    }

    @Test("a copy left in the one that stands in does not come up over a newer one")
    func staleStandIn() throws {
        let runtime = try TemporaryDirectory()
        let system = ReadOnlyFileSystem()
        let state = try openState(path, fallback: runtime.path, fileSystem: system)
        let file = noteFile(state)
        system.setFault(EROFS, of: path)
        try file.save(NoteOne("stood in"))
        system.setFault(nil, of: path)
        // The way home ends before the copy is removed.
        system.setFault(EIO, of: "\(runtime.path)/store")
        #expect(throws: Never.self) { try file.save(NoteOne("newest")) }
        #expect(try noteFile(openState(path, fallback: runtime.path)).load() == NoteOne("newest"))
        #expect(runtime.mode("store/note.json") == nil)
    }

    @Test("without one that stands in a failed save is an error, is reported, and leaves the old generation")
    func noStandIn() throws {
        let system = ReadOnlyFileSystem()
        let state = try openState(path, log: log, fileSystem: system)
        let file = noteFile(state)
        try file.save(NoteOne("first"))
        system.setFault(ENOSPC, of: path)
        #expect(throws: AgentError.secretStore(ENOSPC)) { try file.save(NoteOne("second")) }
        #expect(state.health.map(\.code) == ["store-failed"])
        #expect(try file.load() == NoteOne("first"))
        #expect(log.messages.count == 1)
        #expect(throws: AgentError.secretStore(ENOSPC)) { try file.save(NoteOne("second")) }
        #expect(log.messages.count == 1)
        system.setFault(nil, of: path)
        try file.save(NoteOne("second"))
        #expect(state.health.isEmpty)
    }

    @Test("clearing what cannot be written is an error, since it would come up again")
    func clearReadOnly() throws {
        let system = ReadOnlyFileSystem()
        let file = noteFile(try openState(path, fileSystem: system))
        try file.save(NoteOne("stays"))
        system.setFault(EROFS, of: path)
        #expect(throws: AgentError.secretStore(EROFS)) { try file.clear() }
        #expect(try file.load() == NoteOne("stays"))
    }

    @Test("a stand-in directory that another user made does not stand in", .needsRoot)
    func foreignStandIn() throws {
        let runtime = try TemporaryDirectory()
        try #require(
            mkdir(runtime.path("store"), 0o700) == 0 && chown(runtime.path("store"), 54321, 54321) == 0)
        #expect(throws: AgentError.self) {
            try StateDirectory(path: folder.path("missing/state"), fallback: runtime.path)
        }
        // A good state directory needs none.
        let state = try openState(path, fallback: runtime.path)
        try noteFile(state).save(NoteOne("x"))
        #expect(try noteFile(state).load() == NoteOne("x"))
    }

    @Test("one agent at a time may hold the lock")
    func lock() throws {
        let first = try StateDirectory(path: path)
        try first.lock()
        let second = try StateDirectory(path: path)
        let error = #expect(throws: AgentError.self) { try second.lock() }
        #expect(error?.description.contains("another process of the agent uses it") == true)
        try first.lock()
    }

    @Test("the lock is free as soon as its holder lets go, whatever child has inherited")
    func inheritedLock() throws {
        var inherited: Int32 = -1
        defer { close(inherited) }
        do {
            let first = try StateDirectory(path: path)
            try first.lock()
            // What a child has between fork and exec: another descriptor of the same open directory.
            for number: Int32 in 0..<4_096 where Self.target(of: number) == path {
                inherited = fcntl(number, F_DUPFD_CLOEXEC, 0)
            }
            #expect(inherited >= 0)
        }
        try StateDirectory(path: path).lock()
    }

    private static func target(of descriptor: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
