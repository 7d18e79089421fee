// SPDX-License-Identifier: MIT

internal import AgentCore
internal import CSodium

/// Bytes that may hold keys, erased when the last owner lets go and when they move to a larger block.
///
/// Filled by one owner, then only read.
package final class ErasedBuffer: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    private var block: UnsafeMutableRawBufferPointer
    /// The number of bytes in use.
    package private(set) var count = 0

    /// Creates an empty buffer.
    package init(capacity: Int = 1024) {
        StoreSodium.initialize()
        block = .allocate(byteCount: max(capacity, 64), alignment: 16)
    }

    /// Copies bytes.
    package convenience init(_ bytes: UnsafeRawBufferPointer) {
        self.init(capacity: bytes.count)
        append(bytes)
    }

    /// Copies an array and erases it, as far as nobody else holds it.
    package convenience init(erasing bytes: inout [UInt8]) {
        self.init(capacity: bytes.count)
        bytes.withUnsafeBytes { append($0) }
        bytes.erase()
    }

    /// Says how many bytes there are and no more.
    package var description: String { "ErasedBuffer(\(count) bytes hidden)" }

    /// Shows nothing.
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Calls `body` with the bytes in use.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: block[..<count]))
    }

    /// A copy as an array, which the caller erases.
    package func array() -> [UInt8] { withBytes { Array($0) } }

    /// Whether the bytes are the same, in the same time for every content of one length.
    package func isEqual(to other: ErasedBuffer) -> Bool {
        guard count == other.count else { return false }
        return withBytes { left in
            other.withBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return true }
                return sodium_memcmp(left, right, count) == 0
            }
        }
    }

    /// Adds bytes at the end.
    package func append(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        UnsafeMutableRawBufferPointer(rebasing: block[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    /// Adds the UTF-8 form of a text at the end.
    package func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Adds other bytes at the end.
    package func append(_ other: ErasedBuffer) { other.withBytes { append($0) } }

    /// Adds the lowercase hexadecimal form of bytes at the end.
    package func append(hexadecimal bytes: UnsafeRawBufferPointer) {
        // libsodium ends its text with a zero byte, for which there must be room.
        reserve(2 * bytes.count + 1)
        _ = sodium_bin2hex(
            free.assumingMemoryBound(to: CChar.self), 2 * bytes.count + 1,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        count += 2 * bytes.count
    }

    /// Adds the base64 form of bytes at the end, with padding.
    package func append(base64 bytes: UnsafeRawBufferPointer) {
        let textCount = (bytes.count + 2) / 3 * 4
        reserve(textCount + 1)
        _ = sodium_bin2base64(
            free.assumingMemoryBound(to: CChar.self), textCount + 1,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
            sodium_base64_VARIANT_ORIGINAL)
        count += textCount
    }

    /// Adds as many bytes as `body` says that it wrote to the room for `room` bytes.
    package func append<Failure: Error>(
        room: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        reserve(room)
        count += try body(UnsafeMutableRawBufferPointer(rebasing: block[count..<(count + room)]))
    }

    /// The bytes of a base64 text; `nil` unless it is the only text that stands for them.
    package static func decoded(base64 text: UnsafeRawBufferPointer) -> ErasedBuffer? {
        let bytes = ErasedBuffer(capacity: text.count / 4 * 3 + 3)
        var byteCount = 0
        guard text.count % 4 == 0,
            sodium_base642bin(
                bytes.free.assumingMemoryBound(to: UInt8.self), bytes.block.count,
                text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count, nil, &byteCount, nil,
                sodium_base64_VARIANT_ORIGINAL) == 0
        else { return nil }
        bytes.count = byteCount
        return bytes
    }

    /// The bytes of a text of lowercase hexadecimal digits; `nil` for any other.
    package static func decoded(hexadecimal text: UnsafeRawBufferPointer) -> ErasedBuffer? {
        let isLowercase = text.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard text.count % 2 == 0, isLowercase else { return nil }
        let bytes = ErasedBuffer(capacity: text.count / 2)
        guard
            sodium_hex2bin(
                bytes.free.assumingMemoryBound(to: UInt8.self), bytes.block.count,
                text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count, nil, nil, nil) == 0
        else { return nil }
        bytes.count = text.count / 2
        return bytes
    }

    /// Where the next byte goes.
    private var free: UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(block.octets) + count
    }

    /// Makes room for more bytes.
    private func reserve(_ room: Int) {
        guard count + room > block.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * block.count, count + room), alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<count]))
        sodium_memzero(block.baseAddress, block.count)
        block.deallocate()
        block = larger
    }

    deinit {
        sodium_memzero(block.baseAddress, block.count)
        block.deallocate()
    }
}

extension UnsafeRawBufferPointer {
    /// The address as the calls of libsodium want it; for buffers that are not empty.
    var octets: UnsafePointer<UInt8> {
        guard let baseAddress else { preconditionFailure("the buffer is not empty") }
        return baseAddress.assumingMemoryBound(to: UInt8.self)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The address as the calls of libsodium want it; for buffers that are not empty.
    var octets: UnsafeMutablePointer<UInt8> {
        guard let baseAddress else { preconditionFailure("the buffer is not empty") }
        return baseAddress.assumingMemoryBound(to: UInt8.self)
    }
}
