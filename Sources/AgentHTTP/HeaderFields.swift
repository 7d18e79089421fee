// SPDX-License-Identifier: MIT

/// What requests and answers share about their header fields.
enum HeaderFields {
    /// The value of the first field with this name, in any case of ASCII letters.
    static func first(_ name: String, in fields: [(name: String, value: String)]) -> String? {
        fields.first { isSame($0.name, name) }?.value
    }

    /// Whether two names differ at most in the case of ASCII letters (RFC 9110, section 5.1).
    static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { lowercase($0) == lowercase($1) }
    }

    /// Whether a text is a token (RFC 9110, section 5.6.2): a method or the name of a field.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    true
                default: tokenMarks.contains(byte)
                }
            }
    }

    /// Whether a text can be the value of a field: no control character but the tab (RFC 9110, section 5.5).
    ///
    /// A line break within a value would let it add fields, or a whole message, of its own.
    static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static let tokenMarks = Array("!#$%&'*+-.^_`|~".utf8)
}
