// SPDX-License-Identifier: MIT

internal import AgentCore
internal import FoundationEssentials

/// Entries of the log in JSON.
enum LogJSON {
    /// One entry.
    static func document(_ entry: LogEntry) -> [UInt8] {
        var writer = JSONWriter()
        write(entry, to: &writer)
        return writer.finish()
    }

    /// Many entries, with the name of the run that numbers them and the number to go on after.
    static func document(_ entries: [LogEntry], instance: String, last: UInt64) -> [UInt8] {
        var writer = JSONWriter(capacity: 256 * (entries.count + 1))
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.member("instance", instance)
        writer.member("last", Int(clamping: last))
        writer.name("entries")
        writer.beginArray()
        for entry in entries { write(entry, to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }

    private static func write(_ entry: LogEntry, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", Int(clamping: entry.id))
        writer.member("timestamp", timestamp(entry.timestamp))
        writer.member("level", entry.level.rawValue)
        writer.member("tag", entry.tag)
        writer.member("message", entry.message)
        writer.endObject()
    }

    /// RFC 3339 in UTC with milliseconds.
    private static func timestamp(_ date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        let milliseconds = min(999, max(0, Int((seconds - seconds.rounded(.down)) * 1000)))
        let digits = String(1000 + milliseconds).dropFirst()
        return RFC3339.text(date).dropLast() + "." + digits + "Z"
    }
}

/// Items of health in JSON.
enum HealthJSON {
    /// The document of an event.
    static func document(_ items: [HealthItem]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.name("health")
        writer.beginArray()
        for item in items {
            writer.beginObject()
            writer.member("code", item.code)
            writer.member("text", item.text)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }
}

/// Forwards in JSON.
enum ForwardsJSON {
    /// The forwards; `null` when the server has told none.
    static func document(_ forwards: [ForwardSummary]?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.name("forwards")
        if let forwards {
            writer.beginArray()
            for forward in forwards {
                writer.beginObject()
                writer.member("protocol", forward.transportProtocol.rawValue)
                writer.member("publicPort", Int(forward.publicPort))
                writer.member("targetAddress", forward.targetAddress)
                writer.member("targetPort", Int(forward.targetPort))
                writer.endObject()
            }
            writer.endArray()
        } else {
            writer.null()
        }
        writer.endObject()
        return writer.finish()
    }
}
