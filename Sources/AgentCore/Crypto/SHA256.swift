// SPDX-License-Identifier: MIT

internal import CSodium

/// SHA-256 (FIPS 180-4) by libsodium.
final class SHA256 {
    private let state: UnsafeMutablePointer<crypto_hash_sha256_state>

    /// Starts a digest.
    init() {
        Sodium.initialize()
        state = .allocate(capacity: 1)
        crypto_hash_sha256_init(state)
    }

    /// Goes on with bytes.
    func update(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { _ = crypto_hash_sha256_update(state, Sodium.bytes($0), UInt64($0.count)) }
    }

    /// Goes on with the UTF-8 of a text.
    func update(_ text: String) {
        update(text.utf8.span.bytes)
    }

    /// Goes on with a number, eight bytes, big-endian.
    func update(_ number: UInt64) {
        withUnsafeBytes(of: number.bigEndian) { update($0.bytes) }
    }

    /// Writes the 32 bytes of the digest; nothing can follow.
    private func finish(_ digest: UnsafeMutableRawBufferPointer) {
        crypto_hash_sha256_final(state, Sodium.bytes(digest))
    }

    /// The 32 bytes of the digest of what `body` puts in.
    static func digest(_ body: (SHA256) -> Void) -> [UInt8] {
        let hash = SHA256()
        body(hash)
        var digest = [UInt8](repeating: 0, count: 32)
        digest.withUnsafeMutableBytes { hash.finish($0) }
        return digest
    }

    /// The 32 bytes of the digest of what `body` puts in, when they are a secret themselves.
    static func secretDigest(_ body: (SHA256) -> Void) -> SecretBytes {
        let hash = SHA256()
        body(hash)
        return SecretBytes(capacity: 32) { block in
            hash.finish(block)
            return 32
        }
    }

    deinit {
        sodium_memzero(state, MemoryLayout<crypto_hash_sha256_state>.size)
        state.deallocate()
    }
}
