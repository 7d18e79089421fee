// SPDX-License-Identifier: MIT

internal import Glibc

/// Which file a path leads to, whatever the path is called.
struct FileIdentity: Hashable {
    private let device: UInt
    private let inode: UInt

    /// The file that the path itself names, or `nil` without one; a symbolic link is not followed.
    init?(path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
    }

    /// The type bits of the file's mode, such as `S_IFSOCK`, or `nil` without a file.
    static func kind(path: String) -> mode_t? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT
    }
}
