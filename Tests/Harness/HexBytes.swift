// SPDX-License-Identifier: MIT

/// A byte string that a file or a test writes in hexadecimal, with blanks and line breaks where it likes.
package struct HexBytes: Decodable, Hashable, ExpressibleByStringLiteral {
    /// The bytes.
    package let bytes: [UInt8]

    /// Reads a text; `nil` when it is not hexadecimal.
    package init?(_ text: String) {
        let text = text.filter { !$0.isWhitespace }
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// Decodes a JSON string.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let read = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hexadecimal")
        }
        self = read
    }

    /// A literal.
    package init(stringLiteral text: String) {
        guard let read = Self(text) else { preconditionFailure("the literal is not hexadecimal") }
        self = read
    }
}
