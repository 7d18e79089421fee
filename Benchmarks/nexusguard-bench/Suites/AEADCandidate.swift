// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

/// One way to seal and open batches of packets.
struct AEADCandidate: Sendable {
    /// The name of the way.
    let name: String
    /// Encrypts in place; see `PacketAEAD.seal`.
    let seal: @Sendable (UnsafeMutableBufferPointer<PacketAEADJob>, PresharedKey) -> Void
    /// Decrypts out of place; see `PacketAEAD.open`.
    let open: @Sendable (UnsafeMutableBufferPointer<PacketAEADJob>, PresharedKey) -> Void

    /// All ways that this machine has.
    static let all = [
        AEADCandidate(
            name: "composed", seal: { jobs, _ in PacketAEAD.seal(jobs) },
            open: { jobs, _ in PacketAEAD.open(jobs) }),
        AEADCandidate(name: "libsodium", seal: sealPlainly, open: openPlainly),
    ]

    /// One call of libsodium's whole AEAD for each packet.
    private static func sealPlainly(_ jobs: UnsafeMutableBufferPointer<PacketAEADJob>, _ key: PresharedKey) {
        key.withSecret { key in
            for job in jobs {
                let plaintext = RawSpan(_unsafeStart: job.source, byteCount: job.byteCount)
                var output = MutableRawSpan(_unsafeStart: job.destination, byteCount: job.byteCount + 16)
                ChaCha20Poly1305.seal(
                    plaintext, key: key, counter: job.counter, associatedData: RawSpan(), into: &output)
            }
        }
    }

    /// One call of libsodium's whole AEAD for each packet.
    private static func openPlainly(_ jobs: UnsafeMutableBufferPointer<PacketAEADJob>, _ key: PresharedKey) {
        key.withSecret { key in
            for index in jobs.indices {
                let job = jobs[index]
                let ciphertext = RawSpan(_unsafeStart: job.source, byteCount: job.byteCount + 16)
                var output = MutableRawSpan(_unsafeStart: job.destination, byteCount: job.byteCount)
                jobs[index].isAuthentic = ChaCha20Poly1305.open(
                    ciphertext, key: key, counter: job.counter, associatedData: RawSpan(), into: &output)
            }
        }
    }
}
