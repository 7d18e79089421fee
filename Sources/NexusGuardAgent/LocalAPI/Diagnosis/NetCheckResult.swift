// SPDX-License-Identifier: MIT

internal import AgentCore

/// What one check of the way to the server found.
struct NetCheckResult: Equatable {
    /// How a check went.
    enum Outcome: String {
        /// As it should be.
        case ok
        /// It works, but not well.
        case warn
        /// It does not work.
        case fail
        /// It does not apply, or an earlier failure stands in its way.
        case skipped
    }

    /// What was checked: a stable word.
    var name: String
    /// How it went.
    var outcome: Outcome
    /// One sentence.
    var text: String
    /// How long it took, where that says something.
    var milliseconds: Int?
}

/// All checks of one run.
struct NetCheckReport {
    /// The results, in the order of the checks.
    var results: [NetCheckResult]

    /// Whether nothing failed.
    var isGood: Bool { !results.contains { $0.outcome == .fail } }

    /// The report in JSON.
    var document: [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        write(to: &writer)
        return writer.finish()
    }

    /// Writes the report as an object.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.member("ok", isGood)
        writer.name("checks")
        writer.beginArray()
        for result in results {
            writer.beginObject()
            writer.member("name", result.name)
            writer.member("outcome", result.outcome.rawValue)
            writer.member("text", result.text)
            if let milliseconds = result.milliseconds { writer.member("milliseconds", milliseconds) }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}
