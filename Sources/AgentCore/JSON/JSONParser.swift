// SPDX-License-Identifier: MIT

/// Reads a JSON document (RFC 8259) and refuses what the grammar does not have.
///
/// Strings are decoded straight into memory that is erased later; an error tells the place, not the text.
struct JSONParser {
    private let bytes: [UInt8]
    private var offset = 0
    private var depth = 0

    /// Starts with valid UTF-8.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads the one value of the document.
    mutating func document() throws(AgentError) -> JSONValue {
        skipSpace()
        guard offset < bytes.count else { throw error("is empty") }
        let value = try value()
        skipSpace()
        guard offset == bytes.count else { throw error("goes on behind its value") }
        return value
    }

    private mutating func value() throws(AgentError) -> JSONValue {
        guard let byte = peek() else { throw error("ends too early") }
        switch byte {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw error("has no value where one belongs")
        }
    }

    private mutating func object() throws(AgentError) -> JSONValue {
        try enter()
        var members: [String: JSONValue] = [:]
        if take(UInt8(ascii: "}")) {
            depth -= 1
            return .object(members)
        }
        repeat {
            skipSpace()
            guard peek() == UInt8(ascii: "\"") else { throw error("has no name where one belongs") }
            let name = try string().string
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error("has no colon behind a name") }
            skipSpace()
            let value = try value()
            guard members.updateValue(value, forKey: name) == nil else {
                throw .configInvalid(field: ShownText.name(name), reason: "is given twice")
            }
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw error("has an object that does not end") }
        depth -= 1
        return .object(members)
    }

    private mutating func array() throws(AgentError) -> JSONValue {
        try enter()
        var items: [JSONValue] = []
        if take(UInt8(ascii: "]")) {
            depth -= 1
            return .array(items)
        }
        repeat {
            skipSpace()
            items.append(try value())
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw error("has a list that does not end") }
        depth -= 1
        return .array(items)
    }

    /// Steps over an opening bracket and white space, one level deeper.
    private mutating func enter() throws(AgentError) {
        guard depth < JSONValue.deepestNesting else {
            throw error("is nested deeper than \(JSONValue.deepestNesting) levels")
        }
        depth += 1
        offset += 1
        skipSpace()
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(AgentError) -> JSONValue {
        for index in 0..<text.utf8CodeUnitCount {
            guard take(text.utf8Start[index]) else { throw error("has no value where one belongs") }
        }
        return value
    }

    private mutating func number() throws(AgentError) -> JSONValue {
        let start = offset
        _ = take(UInt8(ascii: "-"))
        if take(UInt8(ascii: "0")) {
            if let next = peek(), Self.isDigit(next) { throw error("has a number with a leading zero") }
        } else {
            try digits()
        }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        guard offset - start <= 64 else { throw error("has a number of more than 64 characters") }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw error("has a number out of range") }
        return .number(number)
    }

    /// Steps over one digit or more.
    private mutating func digits() throws(AgentError) {
        let start = offset
        while let next = peek(), Self.isDigit(next) { offset += 1 }
        guard offset > start else { throw error("has a number without a digit where one belongs") }
    }

    // MARK: Strings

    private mutating func string() throws(AgentError) -> JSONText {
        offset += 1
        let start = offset
        var end = offset
        // No escape sequence is shorter than what it stands for, so this is room enough.
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < bytes.count else { throw error("has a string that does not end") }
        let text = try SecretBytes(capacity: end - start) { (block) throws(AgentError) -> Int in
            var count = 0
            while offset < end {
                let byte = bytes[offset]
                guard byte >= 0x20 else { throw error("has a control character in a string") }
                offset += 1
                if byte == UInt8(ascii: "\\") {
                    try escape(into: block, at: &count)
                } else {
                    block[count] = byte
                    count += 1
                }
            }
            return count
        }
        offset = end + 1
        return JSONText(utf8: text)
    }

    /// Reads what stands behind a backslash; `offset` is there.
    private mutating func escape(
        into block: UnsafeMutableRawBufferPointer, at count: inout Int
    ) throws(AgentError) {
        let byte = bytes[offset]
        offset += 1
        let plain: UInt8
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain = byte
        case UInt8(ascii: "b"): plain = 8
        case UInt8(ascii: "f"): plain = 12
        case UInt8(ascii: "n"): plain = 10
        case UInt8(ascii: "r"): plain = 13
        case UInt8(ascii: "t"): plain = 9
        case UInt8(ascii: "u"):
            for byte in try scalar().utf8 {
                block[count] = byte
                count += 1
            }
            return
        default: throw error("has an unknown escape sequence in a string")
        }
        block[count] = plain
        count += 1
    }

    /// Reads the digits behind `\u`, and the second half of a pair of surrogates.
    private mutating func scalar() throws(AgentError) -> Unicode.Scalar {
        let first = try fourDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw error("has half of a pair of surrogates in a string")
        }
        let second = try fourDigits()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw error("has half of a pair of surrogates in a string") }
        return scalar
    }

    private mutating func fourDigits() throws(AgentError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek(), let digit = Hexadecimal.digit(byte) else {
                throw error("has an unknown escape sequence in a string")
            }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }

    // MARK: Bytes

    private func peek() -> UInt8? {
        offset < bytes.count ? bytes[offset] : nil
    }

    /// Steps over `byte` if it comes next.
    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek(), byte == 32 || byte == 9 || byte == 10 || byte == 13 { offset += 1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private func error(_ reason: String) -> AgentError {
        .configInvalid(field: "JSON", reason: "\(reason) (byte \(offset))")
    }
}
