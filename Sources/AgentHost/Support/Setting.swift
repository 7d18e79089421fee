// SPDX-License-Identifier: MIT

internal import Glibc

/// Settings of the kernel: files below `/proc/sys`.
///
/// Those of the network belong to the namespace of the calling thread.
enum Setting {
    /// Where the settings that we change are.
    private static let root = "/proc/sys/net/"

    /// Whether a path is one that we may write to, so that a journal from somewhere else can do no harm.
    static func isSafe(_ path: String) -> Bool {
        path.hasPrefix(root) && !path.contains("/../") && !path.contains("\0")
    }

    /// The value without the end of its line; `nil` when there is none.
    static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Sets a value.
    ///
    /// - Throws: `HostError.refused`; EROFS and EACCES in containers.
    static func write(_ value: String, to path: String) throws(HostError) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .refused(operation: "open \(path)", errno: errno, detail: nil) }
        defer { close(descriptor) }
        let bytes = Array("\(value)\n".utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw .refused(operation: "write \(path)", errno: errno, detail: nil)
        }
    }
}
