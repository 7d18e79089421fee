// SPDX-License-Identifier: MIT

internal import CSodium

/// A secret in one block of memory that is erased with its last owner.
///
/// Copies share the block. Neither printing nor reflecting shows it.
package final class SecretBytes: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    // Written only before the initialiser returns, so threads may share it.
    private let start: UnsafeMutableRawPointer

    private init(uninitialisedByteCount count: Int) {
        Self.prepare()
        start = .allocate(byteCount: max(count, 1), alignment: 16)
        byteCount = count
    }

    /// Draws `byteCount` bytes from the operating system.
    package convenience init(randomByteCount count: Int) {
        self.init(uninitialisedByteCount: count)
        randombytes_buf(start, count)
    }

    /// Copies bytes. The caller erases the original.
    package convenience init(copying bytes: RawSpan) {
        self.init(uninitialisedByteCount: bytes.byteCount)
        bytes.withUnsafeBytes { source in
            if let base = source.baseAddress { start.copyMemory(from: base, byteCount: source.count) }
        }
    }

    deinit {
        sodium_memzero(start, byteCount)
        start.deallocate()
    }

    /// The number of bytes.
    package let byteCount: Int

    /// Calls `body` with the bytes.
    package func withBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: start, count: byteCount).bytes)
    }

    /// Compares in constant time; secrets of different lengths differ.
    package func isEqual(to other: SecretBytes) -> Bool {
        byteCount == other.byteCount
            && sodium_memcmp(start, other.start, byteCount) == 0
    }

    /// Says that this is a secret and no more.
    package var description: String { "SecretBytes(hidden)" }

    /// Shows nothing.
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Lets libsodium choose its implementations, once.
    private static func prepare() { _ = isReady }
    private static let isReady = sodium_init() >= 0
}
