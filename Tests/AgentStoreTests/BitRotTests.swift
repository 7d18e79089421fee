// SPDX-License-Identifier: MIT

import AgentCore
import AgentStore
import NexusGuard
import Testing

@Suite("bit rot")
struct BitRotTests {
    private static let path = "/state"

    private func open(
        _ system: MemoryFileSystem, isEncrypted: Bool, log: RecordingLog? = nil
    ) throws(AgentError) -> StateDirectory {
        try openState(
            Self.path, hostKeyFile: isEncrypted ? "/keys/host.key" : nil, log: log, fileSystem: system)
    }

    private func file(_ state: StateDirectory) -> AtomicFile<NoteOne> {
        noteFile(state, options: .init(isSecret: true))
    }

    @Test(
        "one flipped bit anywhere in a file is noticed, logged, and the generation before is used",
        arguments: [false, true])
    func everyBit(isEncrypted: Bool) throws {
        let disk = MemoryFileSystem([Self.path: [:], "/keys": [:]])
        try file(open(disk, isEncrypted: isEncrypted)).save(NoteOne("older"))
        try file(open(disk, isEncrypted: isEncrypted)).save(NoteOne("newer"))
        let contents = disk.contents
        let bytes = try #require(contents[Self.path]?["note.json"])
        #expect(bytes.count > 100)
        for bit in 0..<(8 * bytes.count) {
            var damaged = contents
            damaged[Self.path]?["note.json"]?[bit / 8] ^= 1 << (bit % 8)
            let rotten = MemoryFileSystem(damaged)
            let log = RecordingLog()
            let state = try open(rotten, isEncrypted: isEncrypted, log: log)
            let found = try file(state).load()
            guard found == NoteOne("older"), state.health.map(\.code) == ["store-recovered"],
                log.messages.count == 1,
                rotten.contents[Self.path]?["note.json.bad-1"] == damaged[Self.path]?["note.json"]
            else {
                Issue.record("bit \(bit): \(String(describing: found)) \(log.messages)")
                return
            }
        }
    }

    @Test("a file that lost its end, or has something behind it, is noticed", arguments: [false, true])
    func everyLength(isEncrypted: Bool) throws {
        let disk = MemoryFileSystem([Self.path: [:], "/keys": [:]])
        try file(open(disk, isEncrypted: isEncrypted)).save(NoteOne("older"))
        try file(open(disk, isEncrypted: isEncrypted)).save(NoteOne("newer"))
        let contents = disk.contents
        let bytes = try #require(contents[Self.path]?["note.json"])
        for length in 0..<bytes.count {
            var damaged = contents
            damaged[Self.path]?["note.json"] = Array(bytes.prefix(length))
            let found = try file(open(MemoryFileSystem(damaged), isEncrypted: isEncrypted)).load()
            #expect(found == NoteOne("older"), "\(length) bytes")
        }
        for tail in [[0x20], [0x0A], bytes] as [[UInt8]] {
            var damaged = contents
            damaged[Self.path]?["note.json"] = bytes + tail
            let found = try file(open(MemoryFileSystem(damaged), isEncrypted: isEncrypted)).load()
            #expect(found == NoteOne("older"))
        }
    }

    @Test(
        "a file with a digest of its own but a forged content does not open",
        arguments: ["key", "nonce", "sealed"])
    func forged(field: String) throws {
        let disk = MemoryFileSystem([Self.path: [:], "/keys": [:]])
        try file(open(disk, isEncrypted: true)).save(NoteOne("older"))
        try file(open(disk, isEncrypted: true)).save(NoteOne("newer"))
        var contents = disk.contents
        let text = String(decoding: try #require(contents[Self.path]?["note.json"]), as: UTF8.self)
        let covered = Array(text.utf8.dropFirst(77))
        let mark = Array("\"\(field)\":\"".utf8)
        let start =
            try #require(
                covered.indices.first { covered[$0...].starts(with: mark) }) + mark.count
        var forged = covered
        forged[start] = forged[start] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
        let digest = Hexadecimal.text(CryptoManager.sha256(forged))
        contents[Self.path]?["note.json"] = Array("{\"sha256\":\"\(digest)\",".utf8) + forged
        let state = try open(MemoryFileSystem(contents), isEncrypted: true)
        if field == "key" {
            // As far as can be told, it is whole and belongs to another key: no older keys may come up for it.
            #expect(throws: AgentError.self) { try file(state).load() }
        } else {
            #expect(try file(state).load() == NoteOne("older"))
        }
    }
}
