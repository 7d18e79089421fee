// SPDX-License-Identifier: MIT

internal import CSodium

/// 32 secret bytes in one heap block of their own, erased before the block is released.
///
/// The value cannot be copied, and moving it moves only the address: no stale copy of the bytes is left behind.
@safe
package struct SecretKey: ~Copyable, @unchecked Sendable {
    /// The number of bytes of every secret of the protocol.
    package static let byteCount = 32

    /// The bytes, for calls that take a pointer; valid while this value lives.
    @unsafe package let pointer: UnsafeMutableRawPointer

    /// Creates a key of zero bytes, to be filled with `withMutableBytes`.
    package init() {
        Sodium.initialize()
        unsafe pointer = .allocate(byteCount: Self.byteCount, alignment: 16)
        unsafe sodium_memzero(pointer, Self.byteCount)
    }

    /// Copies 32 bytes.
    ///
    /// - Parameter bytes: Exactly 32 bytes.
    package init(copying bytes: RawSpan) {
        precondition(bytes.byteCount == Self.byteCount, "a secret has 32 bytes")
        self.init()
        unsafe bytes.withUnsafeBytes { source in
            unsafe UnsafeMutableRawBufferPointer(start: pointer, count: Self.byteCount).copyMemory(
                from: source)
        }
    }

    /// Copies another key's bytes.
    package init(copying other: borrowing SecretKey) {
        self.init()
        unsafe pointer.copyMemory(from: other.pointer, byteCount: Self.byteCount)
    }

    /// Draws a key from `source`.
    package init(randomFrom source: some RandomSource) {
        self.init()
        unsafe source.fill(UnsafeMutableRawBufferPointer(start: pointer, count: Self.byteCount))
    }

    /// Calls `body` with the 32 bytes.
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(RawSpan(_unsafeStart: UnsafeRawPointer(pointer), byteCount: Self.byteCount))
    }

    /// Calls `body` with the 32 bytes for writing.
    package mutating func withMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (inout MutableRawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var span = unsafe MutableRawSpan(_unsafeStart: pointer, byteCount: Self.byteCount)
        return try body(&span)
    }

    /// Whether all bytes are zero, in constant time.
    package var isZero: Bool {
        unsafe sodium_is_zero(pointer.assumingMemoryBound(to: UInt8.self), Self.byteCount) == 1
    }

    /// Compares with another key in constant time.
    package borrowing func isEqual(to other: borrowing SecretKey) -> Bool {
        unsafe sodium_memcmp(pointer, other.pointer, Self.byteCount) == 0
    }

    deinit {
        unsafe sodium_memzero(pointer, Self.byteCount)
        unsafe pointer.deallocate()
    }
}
