// SPDX-License-Identifier: MIT

internal import CSodium

/// What the stores need of libsodium.
enum StoreSodium {
    private static let ready = sodium_init() >= 0

    /// Initialises libsodium once; it has no random source before.
    static func initialize() {
        guard ready else {
            preconditionFailure("libsodium could not be initialised: the system has no random source")
        }
    }

    /// SHA-256 (FIPS 180-4), 32 bytes.
    static func sha256(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        initialize()
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256(
            &digest, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
        return digest
    }
}
