// SPDX-License-Identifier: MIT

internal import Glibc
public import NexusGuard

/// Keeps the last good addresses of the tunnel's server in a file, for a start at which no name server answers.
public struct EndpointMemory: Sendable {
    private let path: String

    private static let mostBytes = 65_536

    /// Keeps them in a file, whose directory must be there.
    public init(path: String) {
        self.path = path
    }

    /// The addresses that are kept for a name; empty when there are none, or the file can not be read.
    public func addresses(of name: String) -> [IPAddress] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.mostBytes)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return [] }
        let words = String(decoding: bytes[..<count], as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.first.map(String.init) == name else { return [] }
        return words.dropFirst().compactMap { try? IPAddress($0) }
    }

    /// Keeps the addresses of a name in place of all others. That this fails is no error: it is only a help.
    public func keep(_ addresses: [IPAddress], of name: String) {
        guard !addresses.isEmpty, addresses != self.addresses(of: name) else { return }
        let temporary = "\(path).tmp"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let bytes = Array(([name] + addresses.map(\.description)).joined(separator: " ").utf8)
        let isWhole = write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWhole, rename(temporary, path) == 0 else {
            unlink(temporary)
            return
        }
    }
}
