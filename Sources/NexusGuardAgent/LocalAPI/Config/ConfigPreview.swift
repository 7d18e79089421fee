// SPDX-License-Identifier: MIT

internal import AgentCore

/// What an import would change, before anything is changed.
struct ConfigPreview {
    /// The name of the device when an import names none and there is none yet.
    static let deviceWithoutName = "imported"

    /// The configuration after the import.
    let config: WireGuardConfig
    /// Sentences about what of the import is not used.
    let notes: [String]
    /// The differences, for people.
    let changes: [ConfigChange]
    /// How much of the running tunnel must change.
    let depth: ConfigDifference

    /// Reads a text to be imported.
    ///
    /// - Parameters:
    ///   - text: JSON, plain or encrypted, or a file of wg-quick.
    ///   - passphrase: What opens an encrypted one.
    ///   - current: The configuration now.
    /// - Throws: `AgentError.configInvalid` that names the field.
    init(
        _ text: [UInt8], passphrase: [UInt8]?, current: WireGuardConfig?
    ) throws(AgentError) {
        let read = try WireGuardConfigImport(
            text, deviceID: current?.deviceID ?? Self.deviceWithoutName, passphrase: passphrase)
        config = read.config
        notes = read.remarks
        changes = ConfigChange.between(current, read.config)
        depth = current.map { read.config.difference(from: $0) } ?? .identity
    }

    /// The preview in JSON.
    func document(isApplied: Bool) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.member("applied", isApplied)
        writer.member("depth", depthName)
        writer.name("changes")
        writer.beginArray()
        for change in changes {
            writer.beginObject()
            writer.member("field", change.field)
            if let from = change.from { writer.member("from", from) }
            if let to = change.to { writer.member("to", to) }
            writer.endObject()
        }
        writer.endArray()
        writer.name("notes")
        writer.beginArray()
        for note in notes { writer.value(note) }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }

    private var depthName: String {
        switch depth {
        case .none: "none"
        case .forwards: "forwards"
        case .peer: "peer"
        case .host: "host"
        case .identity: "identity"
        }
    }
}
