// SPDX-License-Identifier: MIT

internal import CVectorAEAD

/// ChaCha20-Poly1305 for batches of transport data, without associated data.
///
/// There are several implementations with the same results; the fastest that this processor has is chosen once.
/// All may use the room around packets to work on whole blocks.
package enum PacketAEAD {
    /// The bytes before each packet that may be overwritten.
    package static let headroom = 64
    /// The bytes after each packet's last plaintext byte that may be overwritten; the tag is among them.
    package static let tailroom = 256

    /// The implementation that was chosen for this process.
    package static let implementation = AEADImplementation.chosen()

    /// Encrypts each packet in place and writes its 16-byte tag behind it.
    ///
    /// For each job `source` equals `destination`. The 64 bytes before it and up to 256 bytes behind it are
    /// left with unspecified contents, so a header is written after this call.
    package static func seal(_ jobs: UnsafeMutableBufferPointer<PacketAEADJob>) {
        unsafe seal(jobs, using: implementation)
    }

    /// Decrypts each packet out of place and says in `isAuthentic` whether its tag was valid.
    ///
    /// 64 bytes before `source` and 256 behind the ciphertext must be readable; the same room around
    /// `destination` is left with unspecified contents. A packet that is not authentic must not be used.
    package static func open(_ jobs: UnsafeMutableBufferPointer<PacketAEADJob>) {
        unsafe open(jobs, using: implementation)
    }

    /// Seals with an implementation of the caller's choice, which must be available.
    package static func seal(
        _ jobs: UnsafeMutableBufferPointer<PacketAEADJob>, using implementation: AEADImplementation
    ) {
        switch implementation {
        case .libsodium: unsafe sealPlainly(jobs)
        case .composed: unsafe sealComposed(jobs)
        case .avx2: unsafe vector_aead_seal_avx2(vectorJobs(jobs), jobs.count)
        case .avx512: unsafe vector_aead_seal_avx512(vectorJobs(jobs), jobs.count)
        }
    }

    /// Opens with an implementation of the caller's choice, which must be available.
    package static func open(
        _ jobs: UnsafeMutableBufferPointer<PacketAEADJob>, using implementation: AEADImplementation
    ) {
        switch implementation {
        case .libsodium: unsafe openPlainly(jobs)
        case .composed: unsafe openComposed(jobs)
        case .avx2: unsafe vector_aead_open_avx2(vectorJobs(jobs), jobs.count)
        case .avx512: unsafe vector_aead_open_avx512(vectorJobs(jobs), jobs.count)
        }
    }

    /// The jobs as the C code sees them.
    @inline(__always)
    private static func vectorJobs(
        _ jobs: UnsafeMutableBufferPointer<PacketAEADJob>
    ) -> UnsafeMutablePointer<vector_aead_job>? {
        // Safe only as long as both describe the same bytes, which `AEADImplementation.isAvailable` checks.
        unsafe UnsafeMutableRawPointer(jobs.baseAddress)?.assumingMemoryBound(to: vector_aead_job.self)
    }
}
