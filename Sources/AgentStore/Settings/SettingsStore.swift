// SPDX-License-Identifier: MIT

public import AgentCore
internal import Glibc

/// Keeps the settings in `agent.json`; none of them is a secret.
public final class SettingsStore: Sendable {
    /// Creates a store in a directory; reads and writes nothing yet.
    public init(directory: StateDirectory) {}

    /// Writes the settings; after the return they survive a crash.
    ///
    /// - Throws: `AgentError.configInvalid` for a value out of range; `AgentError.storeUnusable` while the
    ///   file is of a newer version; `AgentError.secretStore` when nothing can be written.
    public func saveConfig(_ settings: AgentConfig) throws(AgentError) { throw .secretStore(ENOSYS) }

    /// The settings that were written last; `nil` before the first.
    ///
    /// - Throws: `AgentError.storeUnusable` for a file of a newer version or whose host key is lost;
    ///   `AgentError.secretStore` when the file cannot be read.
    public func loadConfig() throws(AgentError) -> AgentConfig? { throw .secretStore(ENOSYS) }

    /// Forgets the settings.
    public func clear() throws(AgentError) { throw .secretStore(ENOSYS) }

    /// Changes `settings` by a JSON object of some of the settings, as the user imports or sends it.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field: unknown, twice, of the wrong type or out of
    ///   range. Nothing is changed then.
    public static func apply(json: [UInt8], to settings: inout AgentConfig) throws(AgentError) {
        throw .secretStore(ENOSYS)
    }

    /// The settings as a JSON object that `apply` reads, in one line with its keys in order.
    public static func json(of settings: AgentConfig) -> [UInt8] { [] }

    /// Checks each value.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field.
    public static func validate(_ settings: AgentConfig) throws(AgentError) { throw .secretStore(ENOSYS) }
}
