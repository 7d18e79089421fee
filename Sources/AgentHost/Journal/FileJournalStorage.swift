// SPDX-License-Identifier: MIT

internal import Glibc

/// Keeps the journal in one file, mode 0600, which is replaced as a whole.
///
/// There is no file while there is nothing to undo. A temporary file that was not renamed is of no use: its
/// changes were not begun. When the directory can not be written, such as on a full disk, another one serves.
public final class FileJournalStorage: JournalStorage {
    /// The name of the file in the agent's state directory.
    public static let fileName = "journal.json"

    private let directory: String
    private let fallback: String?

    /// The largest file that is read, in bytes; ours are far smaller.
    private static let mostBytes = 4 << 20

    /// Keeps the journal in a directory, which must be there.
    ///
    /// - Parameter fallback: A directory for when the first one can not be written; it may be one that the end of
    ///   the boot clears, since so are all changes that the journal is for.
    public init(directory: String, fallback: String? = nil) {
        self.directory = directory
        self.fallback = fallback == directory ? nil : fallback
    }

    /// Replaces the file; when the call returns the new one is on the disk.
    public func save(_ bytes: [UInt8]) throws(HostError) {
        guard let fallback else {
            try save(bytes, in: directory)
            return
        }
        do throws(HostError) {
            try save(bytes, in: directory)
        } catch {
            // What is removed in one place must not come back from the other.
            if bytes.isEmpty { throw error }
            try save(bytes, in: fallback)
            return
        }
        // Old, and of no harm when it stays: what is undone already is not undone again.
        try? save([], in: fallback)
    }

    /// Reads the file; `nil` when there is none.
    public func load() throws(HostError) -> [UInt8]? {
        // The fallback has a file only when it is the newer one.
        if let fallback, let bytes = try? load(from: fallback) { return bytes }
        return try load(from: directory)
    }

    /// Renames the file to `journal.json.bad-N`.
    public func setAside() {
        for place in [fallback, directory] {
            guard let place, access(Self.path(in: place), F_OK) == 0 else { continue }
            let path = Self.path(in: place)
            // The first free name; the last one is used again rather than filling the disk.
            for number in 1...9 {
                let name = "\(path).bad-\(number)"
                if number == 9 || access(name, F_OK) != 0 {
                    rename(path, name)
                    break
                }
            }
            return
        }
    }

    private static func path(in directory: String) -> String { "\(directory)/\(fileName)" }

    private func save(_ bytes: [UInt8], in directory: String) throws(HostError) {
        let path = Self.path(in: directory)
        if bytes.isEmpty {
            guard unlink(path) == 0 else {
                if errno == ENOENT { return }
                throw .journal(operation: "unlink \(path)", errno: errno)
            }
        } else {
            let temporary = "\(path).tmp"
            unlink(temporary)
            try write(bytes, to: temporary)
            guard rename(temporary, path) == 0 else {
                throw .journal(operation: "rename \(temporary)", errno: errno)
            }
        }
        try sync(directory)
    }

    private func load(from directory: String) throws(HostError) -> [UInt8]? {
        let path = Self.path(in: directory)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .journal(operation: "open \(path)", errno: errno)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= Self.mostBytes {
            let count = read(descriptor, &block, block.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += block[..<count]
            } else if errno != EINTR {
                throw .journal(operation: "read \(path)", errno: errno)
            }
        }
        throw .journal(operation: "read \(path)", errno: EFBIG)
    }

    private func write(_ bytes: [UInt8], to temporary: String) throws(HostError) {
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .journal(operation: "open \(temporary)", errno: errno) }
        var isClosed = false
        defer { if !isClosed { close(descriptor) } }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                written += count
            } else if errno != EINTR {
                throw .journal(operation: "write \(temporary)", errno: errno)
            }
        }
        guard fsync(descriptor) == 0 else { throw .journal(operation: "fsync \(temporary)", errno: errno) }
        isClosed = true
        guard close(descriptor) == 0 else { throw .journal(operation: "close \(temporary)", errno: errno) }
    }

    private func sync(_ directory: String) throws(HostError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .journal(operation: "open \(directory)", errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .journal(operation: "fsync \(directory)", errno: errno) }
    }
}
