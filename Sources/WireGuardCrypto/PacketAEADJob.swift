// SPDX-License-Identifier: MIT

/// One packet for `PacketAEAD`, as addresses into a slab that outlives the call.
///
/// The vector code in C reads it as a `vector_aead_job`, which has the same fields in the same order.
@unsafe
package struct PacketAEADJob {
    /// The 32 bytes of the transport key.
    package var key: UnsafeRawPointer
    /// The first byte of the plaintext to seal, or of the ciphertext to open.
    package var source: UnsafeRawPointer
    /// Where the result starts; see `seal` and `open` for the room it needs around it.
    package var destination: UnsafeMutableRawPointer
    /// The nonce's counter.
    package var counter: UInt64
    /// The number of plaintext bytes, padding included, tag not.
    package var byteCount: Int
    /// Set by `open`: whether the tag was valid.
    package var isAuthentic: Bool

    /// Describes one packet.
    package init(
        key: UnsafeRawPointer, source: UnsafeRawPointer, destination: UnsafeMutableRawPointer,
        counter: UInt64,
        byteCount: Int
    ) {
        unsafe self.key = key
        unsafe self.source = source
        unsafe self.destination = destination
        unsafe self.counter = counter
        unsafe self.byteCount = byteCount
        unsafe isAuthentic = false
    }
}
