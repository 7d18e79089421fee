// SPDX-License-Identifier: MIT

public import AgentCore

/// Keeps the settings in `agent.json`; none of them is a secret.
public final class SettingsStore: Sendable {
    private let file: AtomicFile<SettingsFormOne>

    /// Creates a store in a directory; reads and writes nothing yet.
    public init(directory: StateDirectory) {
        file = AtomicFile(
            "agent.json", kind: "settings", format: StoredFormat(SettingsFormOne.self), in: directory)
    }

    /// Writes the settings; after the return they survive a crash.
    ///
    /// - Throws: `AgentError.configInvalid` for a value out of range; `AgentError.storeUnusable` while the
    ///   file is of a newer version; `AgentError.secretStore` when nothing can be written.
    public func saveConfig(_ settings: AgentConfig) throws(AgentError) {
        try SettingsRules.check(settings)
        try file.save(SettingsFormOne(settings))
    }

    /// The settings that were written last; `nil` before the first and when every copy is damaged.
    ///
    /// - Throws: `AgentError.storeUnusable` for a file of a newer version; `AgentError.secretStore` when the
    ///   file cannot be read.
    public func loadConfig() throws(AgentError) -> AgentConfig? { try file.load()?.settings }

    /// Forgets the settings.
    public func clear() throws(AgentError) { try file.clear() }

    /// Changes settings by a JSON object of some of them, as the user imports or sends it.
    ///
    /// Names are those of `AgentConfig`, in camel case or snake case. `wantsUp` and `isProvisioned` are what
    /// the agent knows itself: they are accepted, so that what was exported can be imported, and have no
    /// effect. `null` takes a text away.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field: unknown, twice, of the wrong type or out of
    ///   range. Nothing is changed then.
    public static func apply(json: [UInt8], to settings: inout AgentConfig) throws(AgentError) {
        settings = try SettingsChange(parsing: json).applied(to: settings)
    }

    /// The settings as a JSON object that `apply` reads.
    public static func json(of settings: AgentConfig) -> [UInt8] {
        SettingsFormOne(settings).content().array()
    }

    /// Checks each value.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field.
    public static func validate(_ settings: AgentConfig) throws(AgentError) {
        try SettingsRules.check(settings)
    }
}
