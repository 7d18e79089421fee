// SPDX-License-Identifier: MIT

/// Takes numbers and bytes off the front of an input; behind its end are zeros.
struct ByteReader {
    private let input: UnsafeRawBufferPointer
    private var offset = 0

    /// Starts at the first byte of an input, which must outlive the reader.
    init(_ input: UnsafeRawBufferPointer) {
        self.input = input
    }

    /// Whether nothing is left.
    var isAtEnd: Bool { offset >= input.count }

    /// The next byte.
    mutating func byte() -> UInt8 {
        guard offset < input.count else { return 0 }
        defer { offset += 1 }
        return input[offset]
    }

    /// The next byte as a number below `limit`.
    mutating func number(below limit: Int) -> Int {
        limit <= 256 ? Int(byte()) % limit : word() % limit
    }

    /// The next two bytes as a number.
    mutating func word() -> Int { Int(byte()) << 8 | Int(byte()) }

    /// The next eight bytes as a number.
    mutating func longWord() -> UInt64 { (0..<8).reduce(0) { number, _ in number << 8 | UInt64(byte()) } }

    /// As many of the next `count` bytes as there are.
    mutating func bytes(_ count: Int) -> [UInt8] {
        let end = min(offset + count, input.count)
        defer { offset = end }
        return Array(input[offset..<end])
    }

    /// All bytes that are left.
    mutating func rest() -> [UInt8] { bytes(input.count - offset) }
}
