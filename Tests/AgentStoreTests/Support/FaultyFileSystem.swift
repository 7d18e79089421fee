// SPDX-License-Identifier: MIT

import AgentStore
import Glibc
import Synchronization

/// A file system with one fault at one call.
final class FaultyFileSystem: FileSystem {
    enum Fault: Hashable, Sendable, CustomStringConvertible {
        /// The call takes effect, and the process ends right after it.
        case stopAfter
        /// The call fails with an error number and does nothing; later calls work.
        case fail(Int32)
        /// From this call on, each that would write fails with an error number.
        case failWritingFrom(Int32)
        /// A write takes one byte; later calls fail with ENOSPC until something is removed.
        case fillUp

        var description: String {
            switch self {
            case .stopAfter: "stop after"
            case .fail(let number): "fail with \(number)"
            case .failWritingFrom(let number): "fail writing with \(number) from"
            case .fillUp: "disk full from"
            }
        }
    }

    private struct State {
        var calls: [String] = []
        var isStopped = false
        var isFull = false
    }

    private let real: any FileSystem
    private let fault: Fault?
    private let position: Int
    private let state = Mutex(State())

    /// Puts a fault at a call, counted from 0; none only counts.
    init(_ fault: Fault? = nil, at position: Int = 0, over real: any FileSystem = PosixFileSystem()) {
        self.real = real
        self.fault = fault
        self.position = position
    }

    /// The calls so far, by name.
    var calls: [String] { state.withLock { $0.calls } }

    /// Whether the fault has come.
    var hasComeTo: Bool { calls.count > position }

    /// What a stopped process could no longer call.
    private static let stopped = FileError(call: "stopped", number: ECANCELED)

    private func count<Result>(
        _ call: String, writes: Bool = false, _ body: () throws(FileError) -> Result
    ) throws(FileError) -> Result {
        let number = try state.withLock { (state) throws(FileError) in
            if state.isStopped { throw Self.stopped }
            state.calls.append(call)
            return state.calls.count - 1
        }
        switch fault {
        case .stopAfter? where number == position:
            state.withLock { $0.isStopped = true }
            _ = try body()
            // Nobody is left to hear of the result.
            throw Self.stopped
        case .fail(let error)? where number == position: throw FileError(call: call, number: error)
        case .failWritingFrom(let error)? where number >= position && writes:
            throw FileError(call: call, number: error)
        case .fillUp?:
            if call == "unlinkat" { state.withLock { $0.isFull = false } }
            if number == position { state.withLock { $0.isFull = true } }
            let isFull = state.withLock { $0.isFull }
            if isFull, writes, call != "unlinkat", number > position {
                throw FileError(call: call, number: ENOSPC)
            }
            return try body()
        default: return try body()
        }
    }

    func makeDirectory(_ path: String) throws(FileError) {
        try count("mkdir", writes: true) { () throws(FileError) in try real.makeDirectory(path) }
    }

    func openDirectory(_ path: String) throws(FileError) -> Int32 {
        try count("open") { () throws(FileError) in try real.openDirectory(path) }
    }

    func openForReading(_ name: String, in directory: Int32) throws(FileError) -> Int32 {
        try count("openat") { () throws(FileError) in try real.openForReading(name, in: directory) }
    }

    func create(_ name: String, in directory: Int32) throws(FileError) -> Int32 {
        try count("create", writes: true) { () throws(FileError) in try real.create(name, in: directory) }
    }

    func status(of descriptor: Int32) throws(FileError) -> FileStatus {
        try count("fstat") { () throws(FileError) in try real.status(of: descriptor) }
    }

    func setPermissions(_ permissions: UInt32, of descriptor: Int32) throws(FileError) {
        try count("fchmod", writes: true) { () throws(FileError) in
            try real.setPermissions(permissions, of: descriptor)
        }
    }

    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try count("read") { () throws(FileError) in try real.read(descriptor, into: buffer) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(FileError) -> Int {
        try count("write", writes: true) { () throws(FileError) in
            // A stop in the middle of a file, and a disk with little room, take a part of it.
            let isPart = (fault == .stopAfter || fault == .fillUp) && calls.count == position + 1
            let part = isPart ? UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2 + 1)) : bytes
            return try real.write(part, to: descriptor)
        }
    }

    func synchronize(_ descriptor: Int32) throws(FileError) {
        try count("fsync", writes: true) { () throws(FileError) in try real.synchronize(descriptor) }
    }

    func rename(_ name: String, to newName: String, in directory: Int32) throws(FileError) {
        try count("renameat", writes: true) { () throws(FileError) in
            try real.rename(name, to: newName, in: directory)
        }
    }

    func remove(_ name: String, in directory: Int32) throws(FileError) {
        try count("unlinkat", writes: true) { () throws(FileError) in try real.remove(name, in: directory) }
    }

    func names(in directory: Int32) throws(FileError) -> [String] {
        try count("getdents") { () throws(FileError) in try real.names(in: directory) }
    }

    func lock(_ descriptor: Int32) throws(FileError) {
        try count("flock") { () throws(FileError) in try real.lock(descriptor) }
    }

    /// Not counted: descriptors of a process that ended are closed as well.
    func close(_ descriptor: Int32) { real.close(descriptor) }
}
