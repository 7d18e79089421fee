// SPDX-License-Identifier: MIT

/// A value of a JSON document (RFC 8259), read strictly.
///
/// Printing it shows no string of the document.
package indirect enum JSONValue: Sendable {
    /// The literal `null`.
    case null
    /// A truth value.
    case bool(Bool)
    /// A number without fraction and exponent that 64 bits hold.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// A string.
    case string(JSONText)
    /// A list.
    case array([JSONValue])
    /// An object, in which no name came twice.
    case object([String: JSONValue])

    /// The most bytes of a document.
    package static let largestDocument = 65_536
    /// The most arrays and objects inside each other.
    package static let deepestNesting = 16

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8 without a byte order mark, one value with nothing but white space around it.
    ///   - limit: The most bytes that are read.
    /// - Throws: `AgentError.configInvalid` for the field `JSON`, with the place and never the text.
    package init(parsing bytes: [UInt8], limit: Int = JSONValue.largestDocument) throws(AgentError) {
        guard bytes.count <= limit else {
            throw .configInvalid(field: "JSON", reason: "has \(bytes.count) bytes, more than \(limit)")
        }
        guard (try? UTF8Span(validating: bytes.span)) != nil else {
            throw .configInvalid(field: "JSON", reason: "is not UTF-8")
        }
        var parser = JSONParser(bytes)
        self = try parser.document()
    }

    /// The kind of the value, for messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
