// SPDX-License-Identifier: MIT

internal import Glibc

/// The file system of the host.
package struct PosixFileSystem: FileSystem {
    /// Creates the only value there is.
    package init() {}

    package func makeDirectory(_ path: String) throws(FileError) {
        _ = try checked("mkdir") { mkdir(path, 0o700) }
    }

    package func openDirectory(_ path: String) throws(FileError) -> Int32 {
        try checked("open") { open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    }

    package func openForReading(_ name: String, in directory: Int32) throws(FileError) -> Int32 {
        try checked("openat") {
            openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        }
    }

    package func create(_ name: String, in directory: Int32) throws(FileError) -> Int32 {
        try checked("openat") {
            openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
    }

    package func status(of descriptor: Int32) throws(FileError) -> FileStatus {
        var status = stat()
        _ = try checked("fstat") { fstat(descriptor, &status) }
        return FileStatus(
            isRegular: status.st_mode & S_IFMT == S_IFREG, owner: status.st_uid,
            permissions: status.st_mode & 0o7777, byteCount: Int(status.st_size))
    }

    package func setPermissions(_ permissions: UInt32, of descriptor: Int32) throws(FileError) {
        _ = try checked("fchmod") { fchmod(descriptor, permissions) }
    }

    package func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileError) -> Int {
        try checked("read") { Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(FileError) -> Int {
        try checked("write") { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
    }

    package func synchronize(_ descriptor: Int32) throws(FileError) {
        _ = try checked("fsync") { fsync(descriptor) }
    }

    package func rename(_ name: String, to newName: String, in directory: Int32) throws(FileError) {
        _ = try checked("renameat") { renameat(directory, name, directory, newName) }
    }

    package func remove(_ name: String, in directory: Int32) throws(FileError) {
        _ = try checked("unlinkat") { unlinkat(directory, name, 0) }
    }

    package func names(in directory: Int32) throws(FileError) -> [String] {
        // A descriptor of its own: the position in the listing belongs to the open directory.
        let descriptor = try checked("openat") { openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let listing = fdopendir(descriptor) else {
            let number = errno
            _ = Glibc.close(descriptor)
            throw FileError(call: "fdopendir", number: number)
        }
        defer { closedir(listing) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(listing) else {
                guard errno == 0 else { throw FileError(call: "readdir", number: errno) }
                return names
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }

    package func lock(_ descriptor: Int32) throws(FileError) {
        _ = try checked("flock") { flock(descriptor, LOCK_EX | LOCK_NB) }
    }

    package func close(_ descriptor: Int32) {
        // Closing alone leaves a lock with a child that was forked meanwhile, up to its exec.
        _ = flock(descriptor, LOCK_UN)
        _ = Glibc.close(descriptor)
    }

    /// Repeats a call that a signal interrupted, and throws when it fails.
    private func checked<Number: SignedInteger>(
        _ call: String, _ body: () -> Number
    ) throws(FileError) -> Number {
        while true {
            let result = body()
            if result >= 0 { return result }
            let number = errno
            if number != EINTR { throw FileError(call: call, number: number) }
        }
    }
}
