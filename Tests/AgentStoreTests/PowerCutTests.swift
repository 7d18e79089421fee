// SPDX-License-Identifier: MIT

import AgentCore
import AgentStore
import NexusGuard
import Testing

@Suite("a power cut during a save")
struct PowerCutTests {
    private static let path = "/state"
    private static let options = AtomicFile<NoteOne>.Options(isSecret: true)

    private func open(_ system: any FileSystem, isEncrypted: Bool) throws(AgentError) -> AtomicFile<NoteOne> {
        noteFile(
            try openState(
                Self.path, hostKeyFile: isEncrypted ? "/keys/host.key" : nil, fileSystem: system),
            options: Self.options)
    }

    @Test(
        "after it the old generation or the new one is there, whatever had reached the disk",
        arguments: [0, 1, 2], [false, true])
    func save(earlierSaves: Int, isEncrypted: Bool) throws {
        let disk = MemoryFileSystem([Self.path: [:], "/keys": [:]])
        for number in 0..<earlierSaves { try open(disk, isEncrypted: isEncrypted).save(NoteOne("\(number)")) }
        let old = earlierSaves == 0 ? nil : NoteOne("\(earlierSaves - 1)")
        let before = disk.contents
        var cutCount = 0
        var position = 0
        while true {
            let system = MemoryFileSystem(before)
            let faulty = FaultyFileSystem(.stopAfter, at: position, over: system)
            try? open(faulty, isEncrypted: isEncrypted).save(NoteOne("new"))
            for rest in system.afterPowerCut() {
                let found = try open(MemoryFileSystem(rest), isEncrypted: isEncrypted).load()
                #expect(found == old || found == NoteOne("new"), "\(faulty.calls)")
                cutCount += 1
            }
            guard faulty.hasComeTo else { break }
            position += 1
        }
        #expect(cutCount > 100)
    }

    @Test("what a save has returned for is there after it")
    func savedIsSafe() throws {
        let system = MemoryFileSystem([Self.path: [:]])
        for number in 0..<5 {
            try open(system, isEncrypted: false).save(NoteOne("\(number)"))
            for rest in system.afterPowerCut() {
                #expect(try open(MemoryFileSystem(rest), isEncrypted: false).load() == NoteOne("\(number)"))
            }
        }
    }

    @Test("what a clearing has returned for does not come back after it")
    func clearedIsGone() throws {
        let system = MemoryFileSystem([Self.path: [:]])
        let file = try open(system, isEncrypted: false)
        try file.save(NoteOne("one"))
        try file.save(NoteOne("two"))
        try file.clear()
        for rest in system.afterPowerCut() {
            #expect(try open(MemoryFileSystem(rest), isEncrypted: false).load() == nil)
        }
    }
}
