// SPDX-License-Identifier: MIT

internal import AgentCore
internal import Glibc
internal import Synchronization

/// The host key, read from its file when it is first needed and made when nothing depends on an older one.
///
/// The file holds 64 hexadecimal digits and a line feed; only its owner may read it.
final class HostKeyRing: Sendable {
    /// Where the key is.
    let path: String
    private let folder: String
    private let name: String
    private let fileSystem: any FileSystem
    private let key = Mutex<HostKey?>(nil)

    /// Names the file; reads nothing yet.
    init(path: String, fileSystem: any FileSystem) {
        self.path = path
        self.fileSystem = fileSystem
        let slash = path.lastIndex(of: "/")
        folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// The key; `nil` when its file is absent.
    func existing() throws(StoreProblem) -> HostKey? {
        if let key = key.withLock({ $0 }) { return key }
        let descriptor: Int32
        do {
            descriptor = try fileSystem.openDirectory(folder)
        } catch let error where error.number == ENOENT {
            return nil
        } catch {
            throw refusal("cannot be read (\(error))")
        }
        defer { fileSystem.close(descriptor) }
        guard let read = try read(in: descriptor) else { return nil }
        key.withLock { $0 = read }
        return read
    }

    /// The key; a new one where the file is absent and nothing is encrypted yet.
    ///
    /// - Parameter isNeeded: Whether something is encrypted under the key that should be in the file.
    func existingOrNew(isNeeded: () throws(FileError) -> Bool) throws(StoreProblem) -> HostKey {
        if let key = try existing() { return key }
        if try asStoreProblem(isNeeded) { throw .refused(lost("the store")) }
        let new = HostKey()
        do {
            let descriptor = try fileSystem.openDirectory(folder)
            defer { fileSystem.close(descriptor) }
            try write(new, in: descriptor)
        } catch {
            throw refusal(
                "the host key cannot be written there (\(error)); make it with: openssl rand -hex 32")
        }
        key.withLock { $0 = new }
        return new
    }

    /// What to say of a file that is encrypted under a key that is not here.
    func lost(_ file: String) -> AgentError {
        .storeUnusable(
            path: file,
            reason: "the host key that protects the store is not in \(path); put that file back, or give "
                + "this device's identity up with: nexusguard reset")
    }

    private func read(in folder: Int32) throws(StoreProblem) -> HostKey? {
        let file: Int32
        do {
            file = try fileSystem.openForReading(name, in: folder)
        } catch let error where error.number == ENOENT {
            return nil
        } catch {
            throw refusal("cannot be read (\(error))")
        }
        defer { fileSystem.close(file) }
        let status: FileStatus
        let text: ErasedBuffer
        do {
            status = try fileSystem.status(of: file)
            text = try fileSystem.readWhole(file, limit: 2 * HostKey.byteCount + 1)
        } catch {
            throw refusal("cannot be read (\(error))")
        }
        guard status.isRegular, status.owner == geteuid() || status.owner == 0,
            status.permissions & 0o077 == 0
        else {
            throw refusal("must be an ordinary file of the agent's user or of root, with mode 0600 or 0400")
        }
        let digits = text.withBytes { text in
            ErasedBuffer.decoded(
                hexadecimal: text.last == UInt8(ascii: "\n")
                    ? UnsafeRawBufferPointer(rebasing: text.dropLast()) : text)
        }
        guard let key = digits.flatMap({ HostKey($0) }) else {
            throw refusal(
                "must hold 64 lowercase hexadecimal digits; put the right file back, or move this one away and "
                    + "give this device's identity up with: nexusguard reset")
        }
        return key
    }

    private func refusal(_ reason: String) -> StoreProblem {
        .refused(.storeUnusable(path: path, reason: reason))
    }

    private func write(_ key: HostKey, in folder: Int32) throws(FileError) {
        let text = ErasedBuffer(capacity: 128)
        key.withBytes { text.append(hexadecimal: $0) }
        text.append("\n")
        let temporary = "\(name).tmp"
        try fileSystem.writeWhole(text, to: temporary, in: folder)
        try fileSystem.rename(temporary, to: name, in: folder)
        try fileSystem.synchronize(folder)
    }
}
