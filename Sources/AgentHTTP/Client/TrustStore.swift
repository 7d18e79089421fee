// SPDX-License-Identifier: MIT

internal import CCurl
internal import Glibc
internal import Synchronization

/// A file of certificate authorities that exists as long as this object does.
final class TrustFile: Sendable {
    /// The path to give to libcurl; `nil` leaves it to libcurl's own default.
    let path: String?
    private let descriptor: Int32

    /// A file of the system.
    init(path: String?) {
        self.path = path
        descriptor = -1
    }

    /// A file without a name, which is closed with this object.
    init(descriptor: Int32) {
        self.descriptor = descriptor
        path = "/proc/self/fd/\(descriptor)"
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}

/// Provides the authorities that connections trust.
///
/// libcurl takes one file, so those of the system and further ones are put together in memory. The files are
/// read again when they have changed.
final class TrustStore: Sendable {
    private let combined = Mutex<[String: Entry]>([:])

    /// The file with the system's authorities and those of a further file, in PEM.
    func file(for further: String?) throws(HTTPError) -> TrustFile {
        // One file takes a quarter of the time of the folder that libcurl would read by default.
        let system = access(Self.systemFile, R_OK) == 0 ? Self.systemFile : nil
        guard let further else { return TrustFile(path: system) }
        let stamps = [FileStamp(path: system ?? ""), FileStamp(path: further)]
        if let entry = combined.withLock({ $0[further] }), entry.stamps == stamps { return entry.file }
        guard let own = Self.read(further) else {
            throw .tls("\(further): the certificate authorities cannot be read")
        }
        guard own.firstRange(of: Array("-----BEGIN CERTIFICATE-----".utf8)) != nil else {
            throw .tls("\(further): holds no certificate in PEM")
        }
        let content = own + [0x0a] + (system.flatMap(Self.read) ?? [])
        guard let file = Self.memoryFile(of: content) else { throw .tls("no memory for the authorities") }
        combined.withLock { $0[further] = Entry(stamps: stamps, file: file) }
        return file
    }

    private struct Entry {
        let stamps: [FileStamp?]
        let file: TrustFile
    }

    private static func memoryFile(of content: [UInt8]) -> TrustFile? {
        let descriptor = ng_memory_file("authorities")
        guard descriptor >= 0 else { return nil }
        let file = TrustFile(descriptor: descriptor)
        var rest = content[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return nil }
            rest = rest.dropFirst(count)
        }
        return file
    }

    private static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while content.count <= sizeLimit {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 { return nil }
            if count == 0 { return content }
            content += buffer[..<count]
        }
        return nil
    }

    private static let systemFile = "/etc/ssl/certs/ca-certificates.crt"
    private static let sizeLimit = 4_194_304
}

/// What shows that a file has changed.
private struct FileStamp: Equatable {
    let device: UInt64
    let inode: UInt64
    let size: Int
    let seconds: Int
    let nanoseconds: Int

    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
