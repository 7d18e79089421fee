// SPDX-License-Identifier: MIT

import Foundation
import WireGuardCrypto

/// Reading of the files in `Fixtures/vectors`.
enum VectorFile {
    /// Decodes one file, found from the place of this source file.
    static func load<Content: Decodable>(_ name: String, as type: Content.Type = Content.self) throws
        -> Content
    {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: "Fixtures/vectors").appending(path: name)
        return try JSONDecoder().decode(type, from: Data(contentsOf: file))
    }
}

/// A byte string that a file writes in hexadecimal.
struct Hex: Decodable, ExpressibleByStringLiteral {
    /// The bytes.
    let bytes: [UInt8]

    /// Decodes a JSON string.
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let bytes = Self.parse(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hexadecimal")
        }
        self.bytes = bytes
    }

    /// A literal, blanks and line breaks left out.
    init(stringLiteral text: String) {
        guard let bytes = Self.parse(text) else { preconditionFailure("the literal is not hexadecimal") }
        self.bytes = bytes
    }

    /// The bytes of a text, or `nil`.
    private static func parse(_ text: String) -> [UInt8]? {
        let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
        guard digits.count == text.filter({ !$0.isWhitespace }).count, digits.count.isMultiple(of: 2) else {
            return nil
        }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// An unsigned 64-bit number that a file writes as a decimal string.
struct Decimal64: Decodable {
    /// The number.
    let value: UInt64

    /// Decodes a JSON string.
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = UInt64(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a decimal number")
        }
        self.value = value
    }
}

/// A small generator with a seed (SplitMix64), so that a failing run can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Starts from a seed.
    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// So many bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
    }
}

extension SecretKey {
    /// The secret of 32 bytes.
    init(_ bytes: [UInt8]) {
        self.init(copying: bytes.span.bytes)
    }

    /// A copy of the bytes, for comparison.
    var array: [UInt8] { withBytes { span in span.withUnsafeBytes { Array($0) } } }
}

/// Calls `body` with a writable span of so many bytes and gives them with its result.
func filled<Result>(_ count: Int, _ body: (inout MutableRawSpan) -> Result) -> (
    bytes: [UInt8], result: Result
) {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var output = span.mutableBytes
    let result = body(&output)
    return (bytes, result)
}
