// SPDX-License-Identifier: MIT

internal import CSodium

/// A block of memory for secret bytes, erased before it is released.
///
/// Neither printing nor reflecting shows the bytes. Whoever fills the block does so before sharing it.
package final class SecretBytes: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    private let block: UnsafeMutableRawBufferPointer
    /// The number of bytes in use.
    package private(set) var count: Int

    /// Creates a block and lets `fill` write to it.
    ///
    /// - Parameters:
    ///   - capacity: The size of the block; a block of no bytes is allowed.
    ///   - fill: Gets the block, zeroed, and gives the number of bytes that it used.
    package init<Failure: Error>(
        capacity: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        Sodium.initialize()
        // The block is never empty, so that it always has an address.
        block = .allocate(byteCount: max(capacity, 1), alignment: 16)
        sodium_memzero(block.baseAddress, block.count)
        count = 0
        let used = try fill(UnsafeMutableRawBufferPointer(rebasing: block[..<capacity]))
        precondition(used <= capacity, "more bytes in use than there are")
        count = used
    }

    /// Copies bytes.
    package convenience init(copying bytes: RawSpan) {
        let count = bytes.byteCount
        self.init(capacity: count) { block in
            bytes.withUnsafeBytes { block.copyMemory(from: $0) }
            return count
        }
    }

    /// Calls `body` with the bytes.
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: block[..<count]).bytes)
    }

    /// Calls `body` with the bytes, for calls of C; the address is never absent.
    package func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: block[..<count]))
    }

    /// Whether all bytes are zero, in constant time.
    package var isZero: Bool { sodium_is_zero(Sodium.bytes(UnsafeRawBufferPointer(block)), count) == 1 }

    /// Says how many bytes there are and no more.
    package var description: String { "SecretBytes(\(count) hidden)" }

    /// Shows nothing.
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    deinit {
        sodium_memzero(block.baseAddress, block.count)
        block.deallocate()
    }
}

extension [UInt8] {
    /// Overwrites the bytes with zeros and removes them; for an array that nobody else shares.
    package mutating func erase() {
        withUnsafeMutableBytes { sodium_memzero(Sodium.bytes($0), $0.count) }
        removeAll()
    }
}
