// SPDX-License-Identifier: MIT

/// Reads a strict text from front to back without making strings of it.
struct ByteCursor {
    private let bytes: UnsafeRawBufferPointer
    /// Where the next byte is.
    private(set) var position = 0

    /// Starts at the first byte; `bytes` must outlive the cursor.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// What has not been read.
    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[position...]) }

    /// Takes a literal; `false`, with nothing taken, when something else is there.
    mutating func take(_ literal: StaticString) -> Bool {
        let expected = UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)
        guard rest.starts(with: expected) else { return false }
        position += expected.count
        return true
    }

    /// Takes exactly `count` bytes.
    mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }

    /// Takes the bytes before the next quotation mark, and the mark.
    mutating func takeToQuote() -> UnsafeRawBufferPointer? {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")), let text = take(end) else { return nil }
        position += 1
        return text
    }

    /// Takes a decimal number without leading zeros.
    mutating func takeNumber() -> UInt64? {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard let first = digits.first, digits.count == 1 || first != UInt8(ascii: "0") else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            let (tens, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, carries) = tens.addingReportingOverflow(UInt64(digit - 0x30))
            guard !overflows, !carries else { return nil }
            number = sum
        }
        position += digits.count
        return number
    }
}
