// SPDX-License-Identifier: MIT

internal import CSodium

/// ChaCha20-Poly1305 composed of libsodium's stream cipher and authenticator.
///
/// One call of the stream cipher gives the block for the Poly1305 key and the payload, together rounded up to a
/// multiple of 256 bytes, because its tail handling is the slow part; that is why packets need room around them.
extension PacketAEAD {
    /// Seals each packet; see `seal`.
    static func sealComposed(_ jobs: UnsafeMutableBufferPointer<PacketAEADJob>) {
        for index in jobs.indices {
            let job = unsafe jobs[index]
            let start = unsafe job.destination - headroom
            unsafe start.initializeMemory(as: UInt8.self, repeating: 0, count: headroom)
            unsafe applyStream(job, from: start, to: start)
            unsafe authenticate(
                job.destination, job.byteCount, key: start, tag: job.destination + job.byteCount)
            unsafe sodium_memzero(start, 32)
        }
    }

    /// Opens each packet; see `open`.
    static func openComposed(_ jobs: UnsafeMutableBufferPointer<PacketAEADJob>) {
        for index in jobs.indices {
            let job = unsafe jobs[index]
            let start = unsafe job.destination - headroom
            let sourceStart = unsafe job.source - headroom
            unsafe applyStream(job, from: sourceStart, to: start)
            // The source's bytes before the ciphertext went through the stream cipher too: taking them out
            // again leaves the key stream's block 0.
            for offset in stride(from: 0, to: 32, by: 8) {
                let mixed = unsafe start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let own = unsafe sourceStart.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                unsafe start.storeBytes(of: mixed ^ own, toByteOffset: offset, as: UInt64.self)
            }
            var tag = [16 of UInt8](repeating: 0)
            let isAuthentic = unsafe withUnsafeMutableBytes(of: &tag) { tag in
                guard let expected = tag.baseAddress else { return false }
                unsafe authenticate(job.source, job.byteCount, key: start, tag: expected)
                return unsafe crypto_verify_16(
                    expected.assumingMemoryBound(to: UInt8.self),
                    (job.source + job.byteCount).assumingMemoryBound(to: UInt8.self)) == 0
            }
            unsafe sodium_memzero(start, 32)
            unsafe jobs[index].isAuthentic = isAuthentic
        }
    }

    /// Runs the stream cipher from block 0 over the headroom and the payload, together rounded up to 256 bytes.
    @inline(__always)
    private static func applyStream(
        _ job: PacketAEADJob, from source: UnsafeRawPointer, to destination: UnsafeMutableRawPointer
    ) {
        let length = unsafe (headroom + job.byteCount + 255) & ~255
        let nonce = unsafe ChaCha20Poly1305.nonceWords(job.counter)
        unsafe withUnsafeBytes(of: nonce) { nonce in
            _ = unsafe crypto_stream_chacha20_ietf_xor_ic(
                destination.assumingMemoryBound(to: UInt8.self), source.assumingMemoryBound(to: UInt8.self),
                UInt64(length), bytes(nonce), 0, job.key.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Poly1305 over the ciphertext and the length block (RFC 8439 section 2.8).
    @inline(__always)
    private static func authenticate(
        _ ciphertext: UnsafeRawPointer, _ byteCount: Int, key: UnsafeRawPointer, tag: UnsafeMutableRawPointer
    ) {
        let zeros = [2 of UInt64](repeating: 0)
        let lengths: [2 of UInt64] = [0, UInt64(byteCount).littleEndian]
        var state = crypto_onetimeauth_poly1305_state()
        unsafe crypto_onetimeauth_poly1305_init(&state, key.assumingMemoryBound(to: UInt8.self))
        unsafe crypto_onetimeauth_poly1305_update(
            &state, ciphertext.assumingMemoryBound(to: UInt8.self), UInt64(byteCount))
        if byteCount & 15 != 0 {
            unsafe withUnsafeBytes(of: zeros) { zeros in
                _ = unsafe crypto_onetimeauth_poly1305_update(
                    &state, bytes(zeros), UInt64(16 - byteCount & 15))
            }
        }
        unsafe withUnsafeBytes(of: lengths) { lengths in
            _ = unsafe crypto_onetimeauth_poly1305_update(&state, bytes(lengths), 16)
        }
        unsafe crypto_onetimeauth_poly1305_final(&state, tag.assumingMemoryBound(to: UInt8.self))
        unsafe sodium_memzero(&state, MemoryLayout<crypto_onetimeauth_poly1305_state>.size)
    }
}
