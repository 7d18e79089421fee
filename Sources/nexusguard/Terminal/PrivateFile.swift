// SPDX-License-Identifier: MIT

internal import Glibc

/// Files that only their owner can read.
enum PrivateFile {
    /// Writes a file whole or not at all.
    ///
    /// - Parameter replaces: Whether a file of that name is replaced.
    /// - Returns: Whether it worked; otherwise `errno` tells why not.
    static func write(_ bytes: [UInt8], to path: String, replaces: Bool) -> Bool {
        var template = Array("\(path).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return false }
        let temporary = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let isWritten = StandardStream.write(bytes, to: descriptor) && fsync(descriptor) == 0
        var failure = isWritten ? 0 : errno
        close(descriptor)
        if isWritten {
            // A link, unlike a rename, never replaces anything.
            let isPlaced = replaces ? rename(temporary, path) == 0 : link(temporary, path) == 0
            if !isPlaced { failure = errno }
        }
        if failure != 0 || !replaces { unlink(temporary) }
        errno = failure
        return failure == 0
    }

    /// What an error number means.
    static func reason(_ number: Int32) -> String { String(cString: strerror(number)) }
}
