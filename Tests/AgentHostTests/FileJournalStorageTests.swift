// SPDX-License-Identifier: MIT

import AgentHost
import Glibc
import Testing

@Suite("journal's file")
struct FileJournalStorageTests {
    /// Runs `body` with a fresh folder.
    private static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = try HostTestNamespace.temporaryFolder()
        defer { _ = try? HostTestNamespace.tool("rm -r \(folder)") }
        try body(folder)
    }

    private static func names(_ folder: String) throws -> [String] {
        try HostTestNamespace.tool("ls -A \(folder)").split(separator: "\n").map(String.init)
    }

    @Test("what is saved is loaded, for the owner alone, and nothing is left of nothing")
    func roundTrip() throws {
        try Self.withFolder { folder in
            let storage = FileJournalStorage(directory: folder)
            #expect(try storage.load() == nil)
            let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
            try storage.save([1, 2, 3])
            try storage.save(bytes)
            #expect(try storage.load() == bytes)
            #expect(try Self.names(folder) == ["journal.json"])
            #expect(try HostTestNamespace.tool("stat -c %a \(folder)/journal.json") == "600\n")
            try storage.save([])
            #expect(try Self.names(folder) == [])
            try storage.save([])
            #expect(try storage.load() == nil)
        }
    }

    @Test("a temporary file of a killed process, or a link in its place, is replaced and not followed")
    func leftovers() throws {
        try Self.withFolder { folder in
            let storage = FileJournalStorage(directory: folder)
            try HostTestNamespace.tool("cp /etc/hostname \(folder)/journal.json.tmp")
            #expect(try storage.load() == nil)
            try storage.save([7])
            #expect(try storage.load() == [7])
            try HostTestNamespace.tool("cp /dev/null \(folder)/victim")
            try HostTestNamespace.tool("ln -s \(folder)/victim \(folder)/journal.json.tmp")
            try storage.save([8])
            #expect(try storage.load() == [8])
            #expect(try HostTestNamespace.tool("stat -c %s \(folder)/victim") == "0\n")

            try HostTestNamespace.tool("ln -sf \(folder)/victim \(folder)/journal.json")
            #expect(throws: HostError.journal(operation: "open \(folder)/journal.json", errno: ELOOP)) {
                try storage.load()
            }
        }
    }

    @Test("a failure keeps what was there and names the call")
    func failures() throws {
        try Self.withFolder { folder in
            let storage = FileJournalStorage(directory: folder)
            try storage.save([7])
            try HostTestNamespace.tool("mkdir \(folder)/journal.json.tmp")
            #expect(throws: HostError.journal(operation: "open \(folder)/journal.json.tmp", errno: EEXIST)) {
                try storage.save([8])
            }
            #expect(try storage.load() == [7])
            let missing = FileJournalStorage(directory: "\(folder)/missing")
            #expect(
                throws: HostError.journal(operation: "open \(folder)/missing/journal.json.tmp", errno: ENOENT)
            ) {
                try missing.save([8])
            }
        }
    }

    @Test("what is set aside can be looked at, and the newest is there when the names run out")
    func asides() throws {
        try Self.withFolder { folder in
            let storage = FileJournalStorage(directory: folder)
            for number: UInt8 in 1...12 {
                try storage.save([number])
                storage.setAside()
                #expect(try storage.load() == nil)
            }
            let names = try Self.names(folder)
            #expect(names == (1...9).map { "journal.json.bad-\($0)" })
            #expect(try HostTestNamespace.tool("od -An -tu1 \(folder)/journal.json.bad-9").contains("12"))
            #expect(try HostTestNamespace.tool("od -An -tu1 \(folder)/journal.json.bad-1").contains("1"))
        }
    }

    @Test("where the first directory can not be written the second one serves, and only while it must")
    func fallback() throws {
        try Self.withFolder { folder in
            try HostTestNamespace.tool("mkdir \(folder)/run")
            let storage = FileJournalStorage(directory: "\(folder)/state", fallback: "\(folder)/run")
            try storage.save([1])
            #expect(try storage.load() == [1])
            #expect(try Self.names("\(folder)/run") == ["journal.json"])
            try HostTestNamespace.tool("mkdir \(folder)/state")
            #expect(try storage.load() == [1])
            try storage.save([2])
            #expect(try storage.load() == [2])
            #expect(try Self.names("\(folder)/run") == [])
            #expect(try Self.names("\(folder)/state") == ["journal.json"])
            try storage.save([])
            #expect(try Self.names("\(folder)/state") == [])
        }
    }

    @Test("a directory that is to stand in for itself is one directory")
    func sameDirectory() throws {
        try Self.withFolder { folder in
            let storage = FileJournalStorage(directory: folder, fallback: folder)
            try storage.save([1])
            #expect(try storage.load() == [1])
            try storage.save([])
            #expect(try storage.load() == nil)
        }
    }
}
