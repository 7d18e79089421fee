// SPDX-License-Identifier: MIT

/// The calls of the system that the stores make; each method is one of them.
///
/// Tests put an implementation in between that stops or fails at any one call. Names are those of entries in an
/// open directory and hold no slash, so that no other directory can come in their way.
package protocol FileSystem: Sendable {
    /// Makes a directory with mode 0700.
    func makeDirectory(_ path: String) throws(FileError)

    /// Opens a directory; a symbolic link is not followed.
    func openDirectory(_ path: String) throws(FileError) -> Int32

    /// Opens a file to read it; neither follows a symbolic link nor waits for the writer of a pipe.
    func openForReading(_ name: String, in directory: Int32) throws(FileError) -> Int32

    /// Makes a file with mode 0600 and opens it to write; fails where anything has that name.
    func create(_ name: String, in directory: Int32) throws(FileError) -> Int32

    /// What is known about an open file or directory.
    func status(of descriptor: Int32) throws(FileError) -> FileStatus

    /// Sets the permission bits of an open file or directory.
    func setPermissions(_ permissions: UInt32, of descriptor: Int32) throws(FileError)

    /// Reads from where the last read ended; 0 at the end.
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int

    /// Writes at least one byte of `bytes`, which is not empty.
    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(FileError) -> Int

    /// Waits until an open file or directory is on the disk.
    func synchronize(_ descriptor: Int32) throws(FileError)

    /// Gives an entry another name in one step; what had that name is gone.
    func rename(_ name: String, to newName: String, in directory: Int32) throws(FileError)

    /// Removes an entry that is no directory.
    func remove(_ name: String, in directory: Int32) throws(FileError)

    /// The names of all entries, in no order.
    func names(in directory: Int32) throws(FileError) -> [String]

    /// Takes the only lock on an open directory; fails while another process has it.
    func lock(_ descriptor: Int32) throws(FileError)

    /// Closes a descriptor; its lock is gone.
    func close(_ descriptor: Int32)
}

/// What is known about an open file or directory.
package struct FileStatus: Hashable, Sendable {
    /// Whether it is an ordinary file, not a directory, pipe or device.
    package var isRegular: Bool
    /// The user that owns it.
    package var owner: UInt32
    /// The permission bits.
    package var permissions: UInt32
    /// The size in bytes.
    package var byteCount: Int

    /// Creates a status.
    package init(isRegular: Bool, owner: UInt32, permissions: UInt32, byteCount: Int) {
        self.isRegular = isRegular
        self.owner = owner
        self.permissions = permissions
        self.byteCount = byteCount
    }
}
