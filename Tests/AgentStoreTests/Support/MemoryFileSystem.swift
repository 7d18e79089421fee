// SPDX-License-Identifier: MIT

import AgentStore
import Glibc
import Synchronization

/// Directories in memory that know what a power cut would leave of them.
///
/// What was written to a file is safe once the file was synchronised, and what happened to names once the
/// directory was. Before, each change of a name may or may not have reached the disk, and a file may be empty,
/// half or whole.
final class MemoryFileSystem: FileSystem {
    fileprivate final class Node {
        var bytes: [UInt8] = []
        var safe: [UInt8] = []
        var permissions: UInt32 = 0o600
    }

    fileprivate enum Change {
        case link(String, Node)
        case rename(String, String)
        case remove(String)
    }

    fileprivate struct Folder {
        var entries: [String: Node] = [:]
        var safe: [String: Node] = [:]
        var pending: [Change] = []
    }

    fileprivate struct Handle {
        let folder: String
        var node: Node?
        var position = 0
    }

    fileprivate struct State {
        var folders: [String: Folder] = [:]
        var handles: [Int32: Handle] = [:]
        var lastHandle: Int32 = 1000
    }

    /// How much of a file that was not synchronised is there after a power cut.
    enum Survival: CaseIterable, Sendable {
        case nothing, half, all
    }

    private let state: Mutex<State>

    init() { state = Mutex(State()) }

    /// Makes directories that hold these files.
    init(_ folders: [String: [String: [UInt8]]]) {
        var made: [String: Folder] = [:]
        for (path, files) in folders {
            made[path] = Folder()
            for (name, bytes) in files {
                let node = Node()
                node.bytes = bytes
                node.safe = bytes
                made[path]?.entries[name] = node
                made[path]?.safe[name] = node
            }
        }
        state = Mutex(State(folders: made))
    }

    /// The files of all directories as programs see them.
    var contents: [String: [String: [UInt8]]] {
        state.withLock { $0.folders.mapValues { $0.entries.mapValues(\.bytes) } }
    }

    /// Everything that a power cut now may leave.
    func afterPowerCut() -> [[String: [String: [UInt8]]]] {
        state.withLock { state in
            var results: [[String: [String: [UInt8]]]] = [[:]]
            for (path, folder) in state.folders {
                results = results.flatMap { known in
                    Self.outcomes(of: folder).map { known.merging([path: $0]) { _, new in new } }
                }
            }
            return results
        }
    }

    private static func outcomes(of folder: Folder) -> [[String: [UInt8]]] {
        (0..<(1 << folder.pending.count)).flatMap { subset in
            var entries = folder.safe
            for (index, change) in folder.pending.enumerated() where subset >> index & 1 == 1 {
                switch change {
                case .link(let name, let node): entries[name] = node
                case .rename(let old, let new):
                    if let node = entries.removeValue(forKey: old) { entries[new] = node }
                case .remove(let name): entries[name] = nil
                }
            }
            return Survival.allCases.map { survival in
                entries.mapValues { node in
                    guard node.bytes != node.safe else { return node.safe }
                    return switch survival {
                    case .nothing: node.safe
                    case .half: Array(node.bytes.prefix(node.bytes.count / 2))
                    case .all: node.bytes
                    }
                }
            }
        }
    }

    // MARK: Calls

    func makeDirectory(_ path: String) throws(FileError) {
        try state.withLock { (state) throws(FileError) in
            guard state.folders[path] == nil else { throw FileError(call: "mkdir", number: EEXIST) }
            state.folders[path] = Folder()
        }
    }

    func openDirectory(_ path: String) throws(FileError) -> Int32 {
        try state.withLock { (state) throws(FileError) in
            guard state.folders[path] != nil else { throw FileError(call: "open", number: ENOENT) }
            return state.open(Handle(folder: path))
        }
    }

    func openForReading(_ name: String, in directory: Int32) throws(FileError) -> Int32 {
        try state.withLock { (state) throws(FileError) in
            let folder = try state.folder(directory)
            guard let node = state.folders[folder]?.entries[name] else {
                throw FileError(call: "openat", number: ENOENT)
            }
            return state.open(Handle(folder: folder, node: node))
        }
    }

    func create(_ name: String, in directory: Int32) throws(FileError) -> Int32 {
        try state.withLock { (state) throws(FileError) in
            let folder = try state.folder(directory)
            guard state.folders[folder]?.entries[name] == nil else {
                throw FileError(call: "openat", number: EEXIST)
            }
            let node = Node()
            state.folders[folder]?.entries[name] = node
            state.folders[folder]?.pending.append(.link(name, node))
            return state.open(Handle(folder: folder, node: node))
        }
    }

    func status(of descriptor: Int32) throws(FileError) -> FileStatus {
        try state.withLock { (state) throws(FileError) in
            guard let handle = state.handles[descriptor] else {
                throw FileError(call: "fstat", number: EBADF)
            }
            return FileStatus(
                isRegular: handle.node != nil, owner: geteuid(),
                permissions: handle.node?.permissions ?? 0o700, byteCount: handle.node?.bytes.count ?? 0)
        }
    }

    func setPermissions(_ permissions: UInt32, of descriptor: Int32) throws(FileError) {
        state.withLock { $0.handles[descriptor]?.node?.permissions = permissions }
    }

    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try state.withLock { (state) throws(FileError) in
            guard let handle = state.handles[descriptor], let node = handle.node else {
                throw FileError(call: "read", number: EBADF)
            }
            let part = node.bytes.dropFirst(handle.position).prefix(buffer.count)
            buffer.copyBytes(from: part)
            state.handles[descriptor]?.position += part.count
            return part.count
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(FileError) -> Int {
        try state.withLock { (state) throws(FileError) in
            guard let node = state.handles[descriptor]?.node else {
                throw FileError(call: "write", number: EBADF)
            }
            node.bytes += bytes
            return bytes.count
        }
    }

    func synchronize(_ descriptor: Int32) throws(FileError) {
        try state.withLock { (state) throws(FileError) in
            guard let handle = state.handles[descriptor] else {
                throw FileError(call: "fsync", number: EBADF)
            }
            if let node = handle.node {
                node.safe = node.bytes
            } else if var folder = state.folders[handle.folder] {
                folder.safe = folder.entries
                folder.pending = []
                state.folders[handle.folder] = folder
            }
        }
    }

    func rename(_ name: String, to newName: String, in directory: Int32) throws(FileError) {
        try state.withLock { (state) throws(FileError) in
            let folder = try state.folder(directory)
            guard let node = state.folders[folder]?.entries.removeValue(forKey: name) else {
                throw FileError(call: "renameat", number: ENOENT)
            }
            state.folders[folder]?.entries[newName] = node
            state.folders[folder]?.pending.append(.rename(name, newName))
        }
    }

    func remove(_ name: String, in directory: Int32) throws(FileError) {
        try state.withLock { (state) throws(FileError) in
            let folder = try state.folder(directory)
            guard state.folders[folder]?.entries.removeValue(forKey: name) != nil else {
                throw FileError(call: "unlinkat", number: ENOENT)
            }
            state.folders[folder]?.pending.append(.remove(name))
        }
    }

    func names(in directory: Int32) throws(FileError) -> [String] {
        try state.withLock { (state) throws(FileError) in
            Array(state.folders[try state.folder(directory)]?.entries.keys ?? [:].keys)
        }
    }

    func lock(_ descriptor: Int32) throws(FileError) {}

    func close(_ descriptor: Int32) { state.withLock { $0.handles[descriptor] = nil } }
}

extension MemoryFileSystem.State {
    fileprivate mutating func open(_ handle: MemoryFileSystem.Handle) -> Int32 {
        lastHandle += 1
        handles[lastHandle] = handle
        return lastHandle
    }

    fileprivate func folder(_ descriptor: Int32) throws(FileError) -> String {
        guard let handle = handles[descriptor], handle.node == nil else {
            throw FileError(call: "openat", number: EBADF)
        }
        return handle.folder
    }
}
