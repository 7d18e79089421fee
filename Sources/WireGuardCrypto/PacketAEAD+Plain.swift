// SPDX-License-Identifier: MIT

internal import CSodium

/// ChaCha20-Poly1305 by libsodium's own functions, the reference that the others are compared with.
extension PacketAEAD {
    /// Seals each packet by one call; see `seal`.
    static func sealPlainly(_ jobs: UnsafeMutableBufferPointer<PacketAEADJob>) {
        for index in jobs.indices {
            let job = unsafe jobs[index]
            let nonce = unsafe ChaCha20Poly1305.nonceWords(job.counter)
            unsafe withUnsafeBytes(of: nonce) { nonce in
                _ = unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
                    job.destination.assumingMemoryBound(to: UInt8.self), nil,
                    job.source.assumingMemoryBound(to: UInt8.self), UInt64(job.byteCount), nil, 0, nil,
                    bytes(nonce), job.key.assumingMemoryBound(to: UInt8.self))
            }
        }
    }

    /// Opens each packet by one call; see `open`.
    static func openPlainly(_ jobs: UnsafeMutableBufferPointer<PacketAEADJob>) {
        for index in jobs.indices {
            let job = unsafe jobs[index]
            let nonce = unsafe ChaCha20Poly1305.nonceWords(job.counter)
            let status = unsafe withUnsafeBytes(of: nonce) { nonce in
                unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
                    job.destination.assumingMemoryBound(to: UInt8.self), nil, nil,
                    job.source.assumingMemoryBound(to: UInt8.self), UInt64(job.byteCount + 16), nil, 0,
                    bytes(nonce), job.key.assumingMemoryBound(to: UInt8.self))
            }
            unsafe jobs[index].isAuthentic = status == 0
        }
    }
}
