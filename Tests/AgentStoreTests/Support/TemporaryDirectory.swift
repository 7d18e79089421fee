// SPDX-License-Identifier: MIT

import Glibc
import Testing

/// A directory of mode 0700 that goes with its last owner.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        // In memory where that is possible: the tests wait for the disk some ten thousand times.
        path = try #require(Self.make(in: "/dev/shm") ?? Self.make(in: "/tmp"))
    }

    private static func make(in folder: String) -> String? {
        var template = Array("\(folder)/nexusguard-store-XXXXXX".utf8CString)
        return mkdtemp(&template).map { String(cString: $0) }
    }

    deinit {
        Self.remove(path)
    }

    /// The path of an entry.
    func path(_ name: String) -> String { "\(path)/\(name)" }

    /// The bytes of a file; `nil` when there is none.
    func read(_ name: String) -> [UInt8]? {
        let file = open(path(name), O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    /// The text of a file; empty when there is none.
    func text(_ name: String) -> String { String(decoding: read(name) ?? [], as: UTF8.self) }

    /// Writes a file.
    func write(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o600) throws {
        let file = open(path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        try #require(file >= 0)
        defer { close(file) }
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
        try #require(fchmod(file, mode) == 0)
    }

    /// Writes a file.
    func write(_ name: String, _ text: String, mode: mode_t = 0o600) throws {
        try write(name, Array(text.utf8), mode: mode)
    }

    /// The names of the entries, in order.
    var names: [String] { Self.names(path) }

    /// The permission bits of an entry; of the directory itself for an empty name.
    func mode(_ name: String) -> mode_t? {
        var status = stat()
        guard lstat(name.isEmpty ? path : path(name), &status) == 0 else { return nil }
        return status.st_mode & 0o7777
    }

    /// Copies each file of this directory into another one.
    func copy(to other: TemporaryDirectory) throws {
        for name in names { try other.write(name, try #require(read(name))) }
    }

    private static func names(_ path: String) -> [String] {
        guard let listing = opendir(path) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func remove(_ path: String) {
        chmod(path, 0o700)
        for name in names(path) {
            let entry = "\(path)/\(name)"
            if unlink(entry) != 0 { remove(entry) }
        }
        rmdir(path)
    }
}
