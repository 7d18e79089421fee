// SPDX-License-Identifier: MIT

import AgentCore
import AgentStore
import Glibc
import NexusGuard
import Testing

/// What the files look like before a save that a fault interrupts.
enum StartingPoint: CaseIterable, Sendable {
    case nothing, oneGeneration, twoGenerations, damagedFile, onlyPrevious, onlyTemporary, interruptedSave

    /// Brings the files of a directory there, and says what a load gives.
    func prepare(_ folder: TemporaryDirectory, keyFile: String?) throws -> NoteOne? {
        let file = noteFile(try openState(folder.path, hostKeyFile: keyFile), options: .init(isSecret: true))
        guard self != .nothing else { return nil }
        try file.save(NoteOne("older"))
        guard self != .oneGeneration else { return NoteOne("older") }
        try file.save(NoteOne("newer"))
        switch self {
        case .nothing, .oneGeneration, .twoGenerations: return NoteOne("newer")
        case .damagedFile:
            try folder.write("note.json", [])
            return NoteOne("older")
        case .onlyPrevious:
            unlink(folder.path("note.json"))
            return NoteOne("older")
        case .onlyTemporary:
            rename(folder.path("note.json"), folder.path("note.json.tmp"))
            unlink(folder.path("note.prev.json"))
            try folder.write("note.json", "damage")
            return NoteOne("newer")
        case .interruptedSave:
            let newer = try #require(folder.read("note.json"))
            try file.save(NoteOne("newest"))
            rename(folder.path("note.json"), folder.path("note.json.tmp"))
            try folder.write("note.json", newer)
            return NoteOne("newer")
        }
    }
}

@Suite("a save that is interrupted")
struct CrashMatrixTests {
    static let faults: [FaultyFileSystem.Fault] = [
        .stopAfter, .fail(ENOSPC), .fail(EIO), .failWritingFrom(ENOSPC), .failWritingFrom(EIO), .fillUp,
    ]

    @Test(
        "a stop after any call, or a failure of it, leaves the old generation or the new one",
        arguments: StartingPoint.allCases, [false, true])
    func save(start: StartingPoint, isEncrypted: Bool) throws {
        let callCount = try run(start, isEncrypted, FaultyFileSystem()).calls.count
        #expect(callCount >= 10)
        for fault in Self.faults {
            for position in 0..<callCount {
                let system = try run(start, isEncrypted, FaultyFileSystem(fault, at: position))
                #expect(system.hasComeTo, "\(fault) \(position)")
            }
        }
    }

    /// Saves over a faulty file system and checks what another process finds afterwards.
    private func run(
        _ start: StartingPoint, _ isEncrypted: Bool, _ system: FaultyFileSystem
    ) throws -> FaultyFileSystem {
        let folder = try TemporaryDirectory()
        let keyFolder = try TemporaryDirectory()
        let keyFile = isEncrypted ? keyFolder.path("host.key") : nil
        let old = try start.prepare(folder, keyFile: keyFile)
        let new = NoteOne("the new one")
        var failure: AgentError?
        do {
            let state = try openState(folder.path, hostKeyFile: keyFile, fileSystem: system)
            try noteFile(state, options: .init(isSecret: true)).save(new)
        } catch {
            failure = error
        }
        let trace = Comment(rawValue: "\(start) \(system.calls.joined(separator: " "))")
        let state = try openState(folder.path, hostKeyFile: keyFile)
        let file = noteFile(state, options: .init(isSecret: true))
        let found = try file.load()
        #expect(found == old || found == new, trace)
        if failure == nil { #expect(found == new, trace) }
        // What is there now can be worked with: nothing an interruption leaves gets in the way.
        #expect(try file.load() == found, trace)
        try file.save(NoteOne("afterwards"))
        #expect(try file.load() == NoteOne("afterwards"), trace)
        return system
    }

    @Test("a save that finds no room leaves both generations, so that a roll back is still possible")
    func noRoom() throws {
        var checked: Set<String> = []
        var position = 0
        while true {
            let folder = try TemporaryDirectory()
            _ = try StartingPoint.twoGenerations.prepare(folder, keyFile: nil)
            let system = FaultyFileSystem(.failWritingFrom(ENOSPC), at: position)
            do { try noteFile(openState(folder.path, fileSystem: system)).save(NoteOne("no room")) } catch {}
            guard system.hasComeTo else { break }
            let call = system.calls[position]
            if ["create", "write"].contains(call) {
                let file = noteFile(try openState(folder.path))
                #expect(try file.load() == NoteOne("newer"))
                #expect(try file.loadPrevious() == NoteOne("older"), "\(system.calls)")
                checked.insert(call)
            }
            position += 1
        }
        #expect(checked.count == 2)
    }

    @Test(
        "a load that is interrupted gives a generation or an error, and changes what is stored in no case",
        arguments: StartingPoint.allCases)
    func load(start: StartingPoint) throws {
        for fault in Self.faults {
            var position = 0
            while true {
                let folder = try TemporaryDirectory()
                let stored = try start.prepare(folder, keyFile: nil)
                let system = FaultyFileSystem(fault, at: position)
                do {
                    let state = try openState(folder.path, fileSystem: system)
                    let found = try noteFile(state).load()
                    #expect((found == nil) == (stored == nil), "\(fault) \(system.calls)")
                } catch AgentError.secretStore {
                    // An error is no answer, and so no wrong one.
                }
                #expect(try noteFile(openState(folder.path)).load() == stored, "\(fault) \(system.calls)")
                guard system.hasComeTo else { break }
                position += 1
            }
            #expect(position >= 5)
        }
    }

    @Test(
        "a clearing that is interrupted leaves what was stored or nothing, never an older generation",
        arguments: [StartingPoint.twoGenerations, .interruptedSave, .damagedFile])
    func clear(start: StartingPoint) throws {
        for fault in Self.faults {
            var position = 0
            while true {
                let folder = try TemporaryDirectory()
                let stored = try start.prepare(folder, keyFile: nil)
                let system = FaultyFileSystem(fault, at: position)
                try? noteFile(openState(folder.path, fileSystem: system)).clear()
                let found = try noteFile(openState(folder.path)).load()
                #expect(found == nil || found == stored, "\(fault) \(system.calls)")
                guard system.hasComeTo else { break }
                position += 1
            }
            #expect(position > 3)
        }
    }

    @Test("a roll back that is interrupted leaves one of the two generations", arguments: faults)
    func rollBack(fault: FaultyFileSystem.Fault) throws {
        var position = 0
        while true {
            let folder = try TemporaryDirectory()
            _ = try StartingPoint.twoGenerations.prepare(folder, keyFile: nil)
            let system = FaultyFileSystem(fault, at: position)
            var result: NoteOne?
            do { result = try noteFile(openState(folder.path, fileSystem: system)).rollBack() } catch {}
            let found = try noteFile(openState(folder.path)).load()
            #expect(found == NoteOne("older") || found == NoteOne("newer") && result == nil)
            guard system.hasComeTo else { break }
            position += 1
        }
        #expect(position > 5)
    }
}
