// SPDX-License-Identifier: MIT

/// Reading of ASCII text in place, so that no `String` keeps a copy of a secret.
extension RawSpan {
    /// The byte at `index`, which must be inside.
    @inline(__always)
    func byte(_ index: Int) -> UInt8 {
        // The load checks the offset; every bit pattern is a byte.
        unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }

    /// Where `byte` occurs for the first time at or behind `start`.
    func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        var index = start
        while index < byteCount {
            if self.byte(index) == byte { return index }
            index += 1
        }
        return nil
    }

    /// Where `byte` occurs for the last time.
    func lastIndex(of byte: UInt8) -> Int? {
        var index = byteCount - 1
        while index >= 0 {
            if self.byte(index) == byte { return index }
            index -= 1
        }
        return nil
    }

    /// Whether the bytes are those of `literal`.
    func isEqual(to literal: StaticString) -> Bool {
        guard byteCount == literal.utf8CodeUnitCount else { return false }
        var index = 0
        while index < byteCount {
            guard unsafe byte(index) == literal.utf8Start[index] else { return false }
            index += 1
        }
        return true
    }

    /// Whether the bytes are those of `name`, an ASCII text, when case does not count.
    func isEqual(ignoringCase name: String) -> Bool {
        guard byteCount == name.utf8.count else { return false }
        var index = 0
        for byte in name.utf8 {
            guard Self.lowercase(byte) == Self.lowercase(self.byte(index)) else { return false }
            index += 1
        }
        return true
    }

    /// The lowercase letter of an uppercase ASCII letter, and every other byte itself.
    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (65...90).contains(byte) ? byte | 0x20 : byte
    }

    /// The part of `range` without the white space at its ends.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, Self.isSpace(byte(start)) { start += 1 }
        while start < end, Self.isSpace(byte(end - 1)) { end -= 1 }
        return start..<end
    }

    /// Whether a byte is white space inside a line: space, tab, vertical tab, form feed or carriage return.
    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 32 || byte == 9 || (11...13).contains(byte)
    }

    /// Reads an unsigned decimal number: digits only, at least one.
    func decimal(upTo limit: UInt64) -> UInt64? {
        guard byteCount > 0 else { return nil }
        var value: UInt64 = 0
        for index in 0..<byteCount {
            let digit = byte(index) &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = product.addingReportingOverflow(UInt64(digit))
            guard !isTooLarge, !overflows, sum <= limit else { return nil }
            value = sum
        }
        return value
    }

    /// Reads an unsigned hexadecimal number without prefix: digits of either case, at least one.
    func hexadecimal(upTo limit: UInt64) -> UInt64? {
        guard byteCount > 0 else { return nil }
        var value: UInt64 = 0
        for index in 0..<byteCount {
            let digit: UInt8
            switch byte(index) {
            case let byte where (48...57).contains(byte): digit = byte - 48
            case let byte where (97...102).contains(byte): digit = byte - 87
            case let byte where (65...70).contains(byte): digit = byte - 55
            default: return nil
            }
            guard value >> 60 == 0 else { return nil }
            value = value << 4 | UInt64(digit)
            guard value <= limit else { return nil }
        }
        return value
    }

    /// The bytes as text; invalid UTF-8 is replaced.
    var string: String {
        unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes as text, if they are valid UTF-8.
    var validString: String? {
        unsafe withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
}
