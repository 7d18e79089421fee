// SPDX-License-Identifier: MIT

internal import CSodium

/// A growing buffer for text that holds keys, erased whenever bytes leave it.
///
/// Growing moves the bytes and erases the old block; removing a prefix erases it; so does the end of the value.
/// The value cannot be copied, and moving it moves only the address.
@safe
package struct SecretBuffer: ~Copyable, @unchecked Sendable {
    /// The block, `capacity` bytes long; the bytes in use are `head..<tail`.
    private var block: UnsafeMutableRawPointer
    private var capacity: Int
    private var head = 0
    private var tail = 0

    /// Creates an empty buffer.
    ///
    /// - Parameter capacity: How many bytes fit before the buffer grows for the first time.
    package init(capacity: Int = 1024) {
        Sodium.initialize()
        self.capacity = max(capacity, 64)
        unsafe block = .allocate(byteCount: self.capacity, alignment: 16)
    }

    /// The number of bytes in use.
    package var byteCount: Int { tail - head }

    /// Calls `body` with the bytes in use.
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(RawSpan(_unsafeStart: UnsafeRawPointer(block + head), byteCount: byteCount))
    }

    /// Adds a copy of `bytes` at the end.
    package mutating func append(_ bytes: RawSpan) {
        reserve(bytes.byteCount)
        unsafe bytes.withUnsafeBytes { source in
            unsafe UnsafeMutableRawBufferPointer(start: block + tail, count: source.count).copyMemory(
                from: source)
        }
        tail += bytes.byteCount
    }

    /// Adds one byte at the end.
    package mutating func append(byte: UInt8) {
        reserve(1)
        unsafe block.storeBytes(of: byte, toByteOffset: tail, as: UInt8.self)
        tail += 1
    }

    /// Adds the bytes of a literal at the end.
    package mutating func append(_ literal: StaticString) {
        let count = literal.utf8CodeUnitCount
        reserve(count)
        unsafe (block + tail).copyMemory(from: literal.utf8Start, byteCount: count)
        tail += count
    }

    /// Adds the UTF-8 form of a text at the end.
    package mutating func append(text: String) {
        unsafe append(text.utf8.span.bytes)
    }

    /// Adds a number in decimal at the end.
    package mutating func append(decimal number: UInt64) {
        reserve(20)
        var digits = 1
        var rest = number / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        rest = number
        for index in stride(from: tail + digits - 1, through: tail, by: -1) {
            unsafe block.storeBytes(
                of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10), toByteOffset: index,
                as: UInt8.self)
            rest /= 10
        }
        tail += digits
    }

    /// Adds the lowercase hexadecimal form of `bytes` at the end, in the same time for every content.
    package mutating func append(hexadecimal bytes: RawSpan) {
        let count = 2 * bytes.byteCount
        // libsodium ends its text with a zero byte, for which there must be room.
        reserve(count + 1)
        unsafe bytes.withUnsafeBytes { source in
            _ = unsafe sodium_bin2hex(
                (block + tail).assumingMemoryBound(to: CChar.self), count + 1,
                source.baseAddress?.assumingMemoryBound(to: UInt8.self), source.count)
        }
        tail += count
    }

    /// Adds the base64 form of `bytes` at the end, with padding, in the same time for every content.
    package mutating func append(base64 bytes: RawSpan) {
        let count = (bytes.byteCount + 2) / 3 * 4
        reserve(count + 1)
        unsafe bytes.withUnsafeBytes { source in
            _ = unsafe sodium_bin2base64(
                (block + tail).assumingMemoryBound(to: CChar.self), count + 1,
                source.baseAddress?.assumingMemoryBound(to: UInt8.self), source.count,
                sodium_base64_VARIANT_ORIGINAL)
        }
        tail += count
    }

    /// Erases and removes the first `count` bytes, at most all of them.
    package mutating func removeFirst(_ count: Int) {
        let count = min(max(count, 0), byteCount)
        unsafe sodium_memzero(block + head, count)
        head += count
        if head == tail {
            head = 0
            tail = 0
        }
    }

    /// Erases and removes all bytes.
    package mutating func removeAll() {
        removeFirst(byteCount)
    }

    /// Makes room for `count` more bytes behind the bytes in use.
    private mutating func reserve(_ count: Int) {
        guard tail + count > capacity else { return }
        let used = byteCount
        // Moving to the front is only worth it when that frees half of the block; otherwise it would be
        // repeated for every few bytes.
        var newCapacity = capacity
        while used + count > newCapacity / 2 { newCapacity *= 2 }
        let newBlock = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
        unsafe newBlock.copyMemory(from: block + head, byteCount: used)
        unsafe sodium_memzero(block, capacity)
        unsafe block.deallocate()
        unsafe block = newBlock
        capacity = newCapacity
        head = 0
        tail = used
    }

    deinit {
        unsafe sodium_memzero(block, capacity)
        unsafe block.deallocate()
    }
}
