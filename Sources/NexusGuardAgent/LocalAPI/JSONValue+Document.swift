// SPDX-License-Identifier: MIT

package import AgentCore

extension JSONValue {
    /// The value as a document; for values without secrets, since no copy is erased.
    package var document: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer) { $0 }
        return writer.finish()
    }

    /// Writes the value with each of its texts, not the names of members, changed.
    func write(to writer: inout JSONWriter, changing change: (String) -> String) {
        switch self {
        case .null: writer.null()
        case .bool(let flag): writer.value(flag)
        case .integer(let number): writer.value(Int(number))
        // No document of the agent has a fraction; where a whole number belongs, a text is refused by name.
        case .number(let number): writer.value("\(number)")
        case .string(let text): writer.value(change(text.string))
        case .array(let items):
            writer.beginArray()
            for item in items { item.write(to: &writer, changing: change) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                writer.name(name)
                value.write(to: &writer, changing: change)
            }
            writer.endObject()
        }
    }
}
