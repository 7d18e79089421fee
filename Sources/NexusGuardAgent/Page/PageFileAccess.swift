// SPDX-License-Identifier: MIT

internal import AgentCore
internal import CLinux
internal import Glibc

/// Reads what the administrator gives the page besides its settings: certificate, key and password.
enum PageFileAccess {
    /// A file, whose content the caller erases.
    struct Content {
        var bytes: [UInt8]
        /// Changes whenever the file is written or replaced.
        let stamp: String
    }

    /// Reads a file, which must belong to root or the agent's user.
    ///
    /// - Parameters:
    ///   - field: The setting that names it.
    ///   - isSecret: Whether nobody but the owner and its group may read it.
    /// - Throws: `AgentError.configInvalid` with the field and the path.
    static func read(
        _ path: String, field: String, isSecret: Bool = true, limit: Int
    ) throws(AgentError) -> Content {
        func refuse(_ reason: String) -> AgentError {
            .configInvalid(field: field, reason: "\(path) \(reason)")
        }
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw refuse("cannot be read: \(Self.reason(errno))") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw refuse("is no ordinary file")
        }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw refuse("belongs to neither root nor the agent's user")
        }
        guard status.st_mode & (isSecret ? 0o027 : 0o022) == 0 else {
            throw refuse(
                isSecret
                    ? "is open to others; its mode must be 0600 or 0640" : "may be written by others")
        }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else {
                let number = errno
                bytes.erase()
                throw refuse("cannot be read: \(Self.reason(number))")
            }
            if more == 0 { break }
            count += more
        }
        guard count <= limit else {
            bytes.erase()
            throw refuse("has more than \(limit) bytes")
        }
        bytes.removeLast(bytes.count - count)
        let time = status.st_ctim
        return Content(bytes: bytes, stamp: "\(status.st_ino).\(time.tv_sec).\(time.tv_nsec)")
    }

    private static func reason(_ number: Int32) -> String {
        strerrordesc_np(number).map { String(cString: $0) } ?? "error \(number)"
    }
}
