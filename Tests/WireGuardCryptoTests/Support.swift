// SPDX-License-Identifier: MIT

import WireGuardCrypto

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
