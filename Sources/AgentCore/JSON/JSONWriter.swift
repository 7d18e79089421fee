// SPDX-License-Identifier: MIT

/// Writes a JSON document, in the order of the calls and without white space.
///
/// The caller keeps the calls in pairs and gives a name to each member of an object.
package struct JSONWriter {
    private var bytes: [UInt8] = []
    private var needsComma = false

    /// Starts a document.
    ///
    /// - Parameter capacity: The room to begin with; growing leaves copies behind, so a document with keys starts
    ///   with room enough.
    package init(capacity: Int = 512) {
        bytes.reserveCapacity(capacity)
    }

    /// The document.
    package consuming func finish() -> [UInt8] { bytes }

    /// Begins an object.
    package mutating func beginObject() {
        separate()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    /// Ends an object.
    package mutating func endObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Begins a list.
    package mutating func beginArray() {
        separate()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    /// Ends a list.
    package mutating func endArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// Writes the name of the member whose value comes next.
    package mutating func name(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes `null`.
    package mutating func null() { raw("null") }

    /// Writes a truth value.
    package mutating func value(_ flag: Bool) { raw(flag ? "true" : "false") }

    /// Writes a number.
    package mutating func value(_ number: Int) { raw(String(number)) }

    /// Writes a string.
    package mutating func value(_ text: String) {
        separate()
        quote(text)
        needsComma = true
    }

    /// Writes the lowercase hexadecimal digits of bytes as a string, in the same time for every content.
    package mutating func hexadecimal(_ source: RawSpan) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        source.withUnsafeBytes { source in
            for byte in source {
                bytes.append(Self.digit(byte >> 4))
                bytes.append(Self.digit(byte & 15))
            }
        }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Writes a member that is a string.
    package mutating func member(_ name: String, _ text: String) {
        self.name(name)
        value(text)
    }

    /// Writes a member that is a number.
    package mutating func member(_ name: String, _ number: Int) {
        self.name(name)
        value(number)
    }

    /// Writes a member that is a truth value.
    package mutating func member(_ name: String, _ flag: Bool) {
        self.name(name)
        value(flag)
    }

    /// The digit of a number below 16, without a branch or an index that depends on it.
    private static func digit(_ nibble: UInt8) -> UInt8 {
        // Above 9 the letters begin 39 behind where the digits would go on.
        let isLetter = (9 &- nibble) >> 7
        return nibble &+ UInt8(ascii: "0") &+ 39 &* isLetter
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func raw(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
        needsComma = true
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case ..<0x20, 0x7F:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(Self.digit(byte >> 4))
                bytes.append(Self.digit(byte & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
