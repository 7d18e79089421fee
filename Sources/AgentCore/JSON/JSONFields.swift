// SPDX-License-Identifier: MIT

/// Reads the fields of an object, each by its name in snake case or in camel case.
///
/// Fields that nobody asks for are ignored. `null` counts as absent. Every error names the field as it is in snake
/// case.
package struct JSONFields {
    private let members: [String: JSONValue]
    /// What stands in front of the names of fields in errors, such as `forwards[2].`.
    private let path: String

    /// Takes an object.
    ///
    /// - Parameters:
    ///   - value: The value that must be an object.
    ///   - path: The place of the object in the document; empty for the document itself.
    /// - Throws: `AgentError.configInvalid` when the value is none.
    package init(_ value: JSONValue, path: String = "") throws(AgentError) {
        guard case .object(let members) = value else {
            throw .configInvalid(
                field: path.isEmpty ? "document" : path, reason: "is \(value.kind), not an object")
        }
        self.members = members
        self.path = path.isEmpty ? "" : path + "."
    }

    /// Reads a document that is an object.
    package init(parsing bytes: [UInt8], limit: Int = JSONValue.largestDocument) throws(AgentError) {
        try self.init(JSONValue(parsing: bytes, limit: limit))
    }

    /// The value of a field; `nil` when it is absent or `null`.
    ///
    /// - Throws: When the field is there in both spellings.
    package func value(_ name: String) throws(AgentError) -> JSONValue? {
        var value = members[name]
        let other = Self.camelCase(name)
        if other != name, let second = members[other] {
            guard value == nil else { throw invalid(name, "is given twice, as \(name) and as \(other)") }
            value = second
        }
        if case .null = value { return nil }
        return value
    }

    /// A field that must be there.
    package func required<Value>(_ name: String, _ value: Value?) throws(AgentError) -> Value {
        guard let value else { throw invalid(name, "is missing") }
        return value
    }

    /// A string in memory that is erased; `nil` when absent.
    package func secret(_ name: String) throws(AgentError) -> JSONText? {
        guard let value = try value(name) else { return nil }
        guard case .string(let text) = value else { throw invalid(name, "is \(value.kind), not a string") }
        return text
    }

    /// A string that is safe to print; `nil` when absent.
    ///
    /// - Parameter limit: The most bytes of UTF-8.
    package func text(_ name: String, limit: Int) throws(AgentError) -> String? {
        guard let text = try secret(name) else { return nil }
        return try plain(text, name, limit: limit)
    }

    /// A string that is safe to print and not empty; `nil` when absent or empty.
    package func nonEmptyText(_ name: String, limit: Int) throws(AgentError) -> String? {
        guard let text = try text(name, limit: limit), !text.isEmpty else { return nil }
        return text
    }

    /// A number without fraction; `nil` when absent.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws(AgentError) -> Int? {
        guard let value = try value(name) else { return nil }
        switch value {
        case .integer(let number):
            guard let number = Int(exactly: number), range.contains(number) else {
                throw invalid(name, "is not from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        case .number: throw invalid(name, "is not from \(range.lowerBound) to \(range.upperBound)")
        default: throw invalid(name, "is \(value.kind), not a number")
        }
    }

    /// A number; `nil` when absent.
    package func number(_ name: String) throws(AgentError) -> Double? {
        switch try value(name) {
        case nil: return nil
        case .integer(let number)?: return Double(number)
        case .number(let number)?: return number
        case let value?: throw invalid(name, "is \(value.kind), not a number")
        }
    }

    /// A truth value; `nil` when absent.
    package func bool(_ name: String) throws(AgentError) -> Bool? {
        guard let value = try value(name) else { return nil }
        guard case .bool(let flag) = value else { throw invalid(name, "is \(value.kind), not a truth value") }
        return flag
    }

    /// The items of a list; `nil` when absent.
    package func array(_ name: String, limit: Int) throws(AgentError) -> [JSONValue]? {
        guard let value = try value(name) else { return nil }
        guard case .array(let items) = value else { throw invalid(name, "is \(value.kind), not a list") }
        guard items.count <= limit else { throw invalid(name, "has more than \(limit) items") }
        return items
    }

    /// The items of a list of strings, or of one text with commas between them; `nil` when absent.
    ///
    /// White space around items does not count. An empty text is an empty list; an empty item is refused.
    package func texts(_ name: String, limit: Int) throws(AgentError) -> [String]? {
        guard let value = try value(name) else { return nil }
        var texts: [String] = []
        switch value {
        case .string(let text):
            let whole = try plain(text, name, limit: 80 * limit)
            let items = whole.split(separator: ",", omittingEmptySubsequences: false).map { Self.trimmed($0) }
            texts = items == [""] ? [] : items
        case .array(let items):
            for (index, item) in items.prefix(limit + 1).enumerated() {
                guard case .string(let text) = item else {
                    throw invalid("\(name)[\(index)]", "is \(item.kind), not a string")
                }
                texts.append(Self.trimmed(try plain(text, "\(name)[\(index)]", limit: 80)[...]))
            }
        default: throw invalid(name, "is \(value.kind), neither a list nor a string")
        }
        guard texts.count <= limit else { throw invalid(name, "has more than \(limit) items") }
        if let index = texts.firstIndex(of: "") { throw invalid("\(name)[\(index)]", "is empty") }
        return texts
    }

    /// The error for a field.
    package func invalid(_ name: String, _ reason: String) -> AgentError {
        .configInvalid(field: path + name, reason: reason)
    }

    /// The text of a string that is safe to print and not too long.
    private func plain(_ text: JSONText, _ name: String, limit: Int) throws(AgentError) -> String {
        guard text.utf8.count <= limit else {
            throw invalid(name, "has \(text.utf8.count) bytes, more than \(limit)")
        }
        let string = text.string
        guard ShownText.isPlain(string) else { throw invalid(name, "has unprintable characters") }
        return string
    }

    /// The text without blanks at its ends.
    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    /// The name in camel case: `device_id` becomes `deviceId`.
    private static func camelCase(_ name: String) -> String {
        var result = ""
        var isStart = false
        for character in name {
            if character == "_" {
                isStart = true
            } else {
                result += isStart ? character.uppercased() : String(character)
                isStart = false
            }
        }
        return result
    }
}
