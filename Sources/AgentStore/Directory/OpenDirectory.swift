// SPDX-License-Identifier: MIT

internal import AgentCore
internal import Glibc

/// A directory that is open, belongs to the user that runs the agent and to nobody else.
final class OpenDirectory: Sendable {
    /// Nothing of the stores comes near this size; what is larger is damaged.
    private static let fileByteLimit = 1 << 20

    /// Where it was found.
    let path: String
    /// The open directory.
    let descriptor: Int32
    /// How it is reached.
    let fileSystem: any FileSystem

    /// Opens a directory; makes it with mode 0700 where it is absent, unless `makes` is false.
    ///
    /// A directory that others may read is closed to them. One that another user owns, that others may write,
    /// or that is a symbolic link is refused: its contents could be anyone's.
    init(path: String, fileSystem: any FileSystem, makes: Bool = true) throws(StoreProblem) {
        let descriptor = try Self.open(path, fileSystem, makes: makes)
        do throws(StoreProblem) {
            let status = try asStoreProblem { () throws(FileError) in try fileSystem.status(of: descriptor) }
            if let reason = Self.refusal(of: status) {
                throw StoreProblem.refused(.storeUnusable(path: path, reason: reason))
            }
            if status.permissions & 0o7777 != 0o700 {
                try asStoreProblem { () throws(FileError) in
                    try fileSystem.setPermissions(0o700, of: descriptor)
                }
            }
        } catch {
            fileSystem.close(descriptor)
            throw error
        }
        self.path = path
        self.fileSystem = fileSystem
        self.descriptor = descriptor
    }

    deinit {
        fileSystem.close(descriptor)
    }

    private static func open(
        _ path: String, _ fileSystem: any FileSystem, makes: Bool
    ) throws(StoreProblem) -> Int32 {
        do {
            return try fileSystem.openDirectory(path)
        } catch let error where makes && error.number == ENOENT {
            // Made below.
        } catch let error where error.number == ENOTDIR || error.number == ELOOP {
            throw .refused(
                .storeUnusable(path: path, reason: "is no directory; a symbolic link is not followed"))
        } catch {
            throw .file(error)
        }
        return try asStoreProblem { () throws(FileError) in
            do throws(FileError) {
                try fileSystem.makeDirectory(path)
            } catch let error where error.number == EEXIST {
                // Another process was faster; whose it is now is checked like any other.
            }
            return try fileSystem.openDirectory(path)
        }
    }

    private static func refusal(of status: FileStatus) -> String? {
        let user = geteuid()
        if status.owner != user {
            return "belongs to user \(status.owner) and not to user \(user), who runs the agent; "
                + "give it to that user with chown -R, or choose another directory"
        }
        if status.permissions & 0o022 != 0 {
            return "may be written by others (mode \(String(status.permissions & 0o7777, radix: 8))); "
                + "look at what is in it, then close it with chmod 0700"
        }
        return nil
    }

    /// Reads a whole file.
    ///
    /// - Returns: The bytes, or why they are not to be used; `nil` when there is no such file.
    func read(_ name: String) throws(FileError) -> Result<ErasedBuffer, StoredFormError>? {
        let file: Int32
        do {
            file = try fileSystem.openForReading(name, in: descriptor)
        } catch let error where error.number == ENOENT {
            return nil
        } catch let error where error.number == ELOOP {
            return .failure(StoredFormError("is a symbolic link"))
        }
        defer { fileSystem.close(file) }
        let status = try fileSystem.status(of: file)
        guard status.isRegular else { return .failure(StoredFormError("is no ordinary file")) }
        guard status.owner == geteuid(), status.permissions & 0o022 == 0 else {
            return .failure(StoredFormError("may be written by others"))
        }
        if status.permissions & 0o077 != 0 { try fileSystem.setPermissions(0o600, of: file) }
        let bytes = try fileSystem.readWhole(file, limit: Self.fileByteLimit)
        guard bytes.count <= Self.fileByteLimit else { return .failure(StoredFormError("is too large")) }
        return .success(bytes)
    }

    /// Makes a file of these bytes that is on the disk when the call returns; its name may not be yet.
    func write(_ bytes: ErasedBuffer, to name: String) throws(FileError) {
        try fileSystem.writeWhole(bytes, to: name, in: descriptor)
    }

    /// Gives a file another name.
    func rename(_ name: String, to newName: String) throws(FileError) {
        try fileSystem.rename(name, to: newName, in: descriptor)
    }

    /// Waits until the names are on the disk.
    func synchronize() throws(FileError) { try fileSystem.synchronize(descriptor) }

    /// Removes a file, if there is one.
    func removeIfPresent(_ name: String) throws(FileError) {
        try fileSystem.removeIfPresent(name, in: descriptor)
    }

    /// Renames a damaged file to the next free name of the form `name.bad-N`.
    ///
    /// - Returns: The new name.
    func setAside(_ name: String) throws(FileError) -> String {
        let prefix = "\(name).bad-"
        let numbers = try fileSystem.names(in: descriptor).filter { $0.hasPrefix(prefix) }.map {
            Int($0.dropFirst(prefix.count)) ?? 0
        }
        let newName = prefix + String((numbers.max() ?? 0) + 1)
        try rename(name, to: newName)
        return newName
    }

    /// The names of all files.
    func names() throws(FileError) -> [String] { try fileSystem.names(in: descriptor) }
}
