// SPDX-License-Identifier: MIT

internal import AgentCore
internal import FoundationEssentials
internal import NexusGuard

extension JSONWriter {
    /// The line of an object whose first member is the number of its schema.
    static func document(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("schema", 1)
        body(&writer)
        writer.endObject()
        return String(decoding: writer.finish(), as: UTF8.self) + "\n"
    }

    /// Writes a member that is a string, or `null`.
    mutating func optionalMember(_ name: String, _ text: String?) {
        self.name(name)
        if let text { value(text) } else { null() }
    }

    /// Writes a member that is a time, or `null`.
    mutating func optionalMember(_ name: String, _ date: Date?) {
        optionalMember(name, date.map { RFC3339.text($0) })
    }

    /// Writes the members of a forward.
    mutating func write(_ record: ForwardRecord) {
        member("device", record.deviceID)
        member("protocol", record.forward.transportProtocol.rawValue)
        member("public_port", Int(record.forward.publicPort))
        member("target_ip", record.forward.targetAddress.description)
        member("target_port", Int(record.forward.targetPort))
        member("created", RFC3339.text(record.createdAt))
    }
}
