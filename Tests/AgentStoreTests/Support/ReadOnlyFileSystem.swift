// SPDX-License-Identifier: MIT

import AgentStore
import Glibc
import Synchronization

/// The real file system, of which some directories cannot be written for a while.
final class ReadOnlyFileSystem: FileSystem {
    private struct State {
        /// The error numbers of writes by the paths of directories.
        var faults: [String: Int32] = [:]
        var paths: [Int32: String] = [:]
    }

    private let real = PosixFileSystem()
    private let state = Mutex(State())

    /// Makes writes to a directory fail, or work again.
    func setFault(_ number: Int32?, of path: String) { state.withLock { $0.faults[path] = number } }

    private func check(_ call: String, _ descriptor: Int32) throws(FileError) {
        let number = state.withLock { state in state.paths[descriptor].flatMap { state.faults[$0] } }
        if let number { throw FileError(call: call, number: number) }
    }

    func makeDirectory(_ path: String) throws(FileError) {
        let number = state.withLock { $0.faults[path] }
        if let number { throw FileError(call: "mkdir", number: number) }
        try real.makeDirectory(path)
    }

    func openDirectory(_ path: String) throws(FileError) -> Int32 {
        let descriptor = try real.openDirectory(path)
        state.withLock { $0.paths[descriptor] = path }
        return descriptor
    }

    func openForReading(_ name: String, in directory: Int32) throws(FileError) -> Int32 {
        try real.openForReading(name, in: directory)
    }

    func create(_ name: String, in directory: Int32) throws(FileError) -> Int32 {
        try check("openat", directory)
        return try real.create(name, in: directory)
    }

    func status(of descriptor: Int32) throws(FileError) -> FileStatus { try real.status(of: descriptor) }

    func setPermissions(_ permissions: UInt32, of descriptor: Int32) throws(FileError) {
        try check("fchmod", descriptor)
        try real.setPermissions(permissions, of: descriptor)
    }

    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try real.read(descriptor, into: buffer)
    }

    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(FileError) -> Int {
        try real.write(bytes, to: descriptor)
    }

    func synchronize(_ descriptor: Int32) throws(FileError) { try real.synchronize(descriptor) }

    func rename(_ name: String, to newName: String, in directory: Int32) throws(FileError) {
        try check("renameat", directory)
        try real.rename(name, to: newName, in: directory)
    }

    func remove(_ name: String, in directory: Int32) throws(FileError) {
        try check("unlinkat", directory)
        try real.remove(name, in: directory)
    }

    func names(in directory: Int32) throws(FileError) -> [String] { try real.names(in: directory) }

    func lock(_ descriptor: Int32) throws(FileError) { try real.lock(descriptor) }

    func close(_ descriptor: Int32) {
        state.withLock { $0.paths[descriptor] = nil }
        real.close(descriptor)
    }
}
