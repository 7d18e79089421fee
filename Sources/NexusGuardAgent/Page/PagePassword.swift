// SPDX-License-Identifier: MIT

internal import AgentCore
internal import CSodium
internal import Glibc

/// The password of the page, as far as it is kept: a digest under a key that only this run has.
final class PagePassword: Sendable {
    /// The least number of bytes: guesses are slow, but there is no end to them.
    static let shortest = 12
    /// The most bytes.
    static let longest = 1024

    /// The password's file as it is; another stamp may mean another password.
    let stamp: String
    private let key: [UInt8]
    private let digest: [UInt8]

    /// Reads the file of a password; the line end behind it does not count.
    ///
    /// - Throws: `AgentError.configInvalid` with the field `ui_password_file`, and never with its content.
    init(contentsOf path: String) throws(AgentError) {
        let file = try PageFileAccess.read(path, field: "ui_password_file", limit: Self.longest + 2)
        var bytes = file.bytes
        defer { bytes.erase() }
        var count = bytes.count
        while count > 0, bytes[count - 1] == 0x0A || bytes[count - 1] == 0x0D { count -= 1 }
        guard (Self.shortest...Self.longest).contains(count) else {
            throw .configInvalid(
                field: "ui_password_file",
                reason: "\(path) holds no password of \(Self.shortest) to \(Self.longest) bytes")
        }
        stamp = file.stamp
        var key = [UInt8](repeating: 0, count: Int(crypto_generichash_KEYBYTES))
        randombytes_buf(&key, key.count)
        self.key = key
        digest = bytes.withUnsafeBytes {
            Self.digest(UnsafeRawBufferPointer(rebasing: $0[..<count]), key: key)
        }
    }

    /// Whether a text is the password; takes as long for each text of a length.
    func isRight(_ text: JSONText) -> Bool {
        let other = text.utf8.withUnsafeBytes { Self.digest($0, key: key) }
        return sodium_memcmp(other, digest, digest.count) == 0
    }

    private static func digest(_ bytes: UnsafeRawBufferPointer, key: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(crypto_generichash_BYTES))
        crypto_generichash(
            &digest, digest.count, bytes.bindMemory(to: UInt8.self).baseAddress, UInt64(bytes.count), key,
            key.count)
        return digest
    }
}
