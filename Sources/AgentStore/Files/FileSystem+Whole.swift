// SPDX-License-Identifier: MIT

internal import Glibc

extension FileSystem {
    /// Makes a file of these bytes that is on the disk when the call returns; its name may not be yet.
    ///
    /// What had that name is removed first. Nothing is left of a file that could not be written whole.
    func writeWhole(_ bytes: ErasedBuffer, to name: String, in directory: Int32) throws(FileError) {
        try removeIfPresent(name, in: directory)
        let file = try create(name, in: directory)
        do {
            try bytes.withBytes { (bytes) throws(FileError) in
                var written = 0
                while written < bytes.count {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                    let count = try write(rest, to: file)
                    guard count > 0 else { throw FileError(call: "write", number: EIO) }
                    written += count
                }
            }
            try synchronize(file)
        } catch {
            close(file)
            // It would only take room on a full disk. What failed first is what the caller hears of.
            try? remove(name, in: directory)
            throw error
        }
        close(file)
    }

    /// Reads an open file to its end, or to a little more than `limit` bytes.
    func readWhole(_ file: Int32, limit: Int) throws(FileError) -> ErasedBuffer {
        let bytes = ErasedBuffer(capacity: 4096)
        while bytes.count <= limit {
            let before = bytes.count
            try bytes.append(room: 2048) { (room) throws(FileError) in try read(file, into: room) }
            if bytes.count == before { break }
        }
        return bytes
    }

    /// Removes a file, if there is one.
    func removeIfPresent(_ name: String, in directory: Int32) throws(FileError) {
        do {
            try remove(name, in: directory)
        } catch let error where error.number == ENOENT {
            return
        }
    }
}
