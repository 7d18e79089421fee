// SPDX-License-Identifier: MIT

internal import AgentCore
internal import CSodium

/// The SHA-256 of a link or a session of the page, which is all that is kept of either.
struct PageDigest: Hashable, Sendable {
    /// The 32 bytes.
    let bytes: [UInt8]

    /// Takes 32 bytes; `nil` for any other number of them.
    init?(bytes: [UInt8]) {
        guard bytes.count == Int(crypto_hash_sha256_BYTES) else { return nil }
        self.bytes = bytes
    }

    /// The digest of the UTF-8 of a text.
    init(of text: String) {
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        var text = text
        text.withUTF8 { _ = crypto_hash_sha256(&digest, $0.baseAddress, UInt64($0.count)) }
        bytes = digest
    }

    /// A short name for the log, of which nobody can make the text.
    var name: String { String(hexadecimal.prefix(6)) }

    /// The digest as 64 lowercase digits.
    var hexadecimal: String { Hexadecimal.text(bytes) }
}

/// Links and sessions as their owners get them.
enum PageSecret {
    private static let ready = sodium_init() >= 0

    /// 256 random bits as base64url without padding (RFC 4648, section 5): 43 characters.
    static func make() -> String {
        precondition(ready, "libsodium could not be initialised: the system has no random source")
        var bytes = [UInt8](repeating: 0, count: 32)
        randombytes_buf(&bytes, bytes.count)
        defer { sodium_memzero(&bytes, bytes.count) }
        let capacity = 44
        return String(unsafeUninitializedCapacity: capacity) { target in
            guard let start = target.baseAddress else { return 0 }
            sodium_bin2base64(
                UnsafeMutableRawPointer(start).assumingMemoryBound(to: CChar.self), capacity, bytes,
                bytes.count, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
            return capacity - 1
        }
    }
}
