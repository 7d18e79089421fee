// SPDX-License-Identifier: MIT

internal import AgentCore

/// The content of `agent.json` in its first version.
struct SettingsFormOne: StoredForm, Equatable {
    static let version = 1

    var serverURL: String?
    var wantsUp: Bool
    var startsAutomatically: Bool
    var isProvisioned: Bool
    var interfaceName: String
    var certificateAuthorityFile: String?
    var allowsPlainHTTP: Bool
    var authenticatesHeartbeats: Bool
    var requiresEncryptedHeartbeats: Bool
    var persistsLog: Bool

    init(content: ErasedBuffer) throws(StoredFormError) {
        self = try reading(content) { (fields) throws(AgentError) in
            SettingsFormOne(
                serverURL: try fields.nonEmptyText("serverURL", limit: SettingsRules.longestText),
                wantsUp: try fields.required("wantsUp", fields.bool("wantsUp")),
                startsAutomatically: try fields.required(
                    "startsAutomatically", fields.bool("startsAutomatically")),
                isProvisioned: try fields.required("isProvisioned", fields.bool("isProvisioned")),
                interfaceName: try fields.required(
                    "interfaceName", fields.nonEmptyText("interfaceName", limit: SettingsRules.longestText)),
                certificateAuthorityFile: try fields.nonEmptyText(
                    "certificateAuthorityFile", limit: SettingsRules.longestText),
                allowsPlainHTTP: try fields.required("allowsPlainHTTP", fields.bool("allowsPlainHTTP")),
                authenticatesHeartbeats: try fields.required(
                    "authenticatesHeartbeats", fields.bool("authenticatesHeartbeats")),
                requiresEncryptedHeartbeats: try fields.required(
                    "requiresEncryptedHeartbeats", fields.bool("requiresEncryptedHeartbeats")),
                persistsLog: try fields.required("persistsLog", fields.bool("persistsLog")))
        }
    }

    init(_ settings: AgentConfig) {
        serverURL = settings.serverURL
        wantsUp = settings.wantsUp
        startsAutomatically = settings.startsAutomatically
        isProvisioned = settings.isProvisioned
        interfaceName = settings.interfaceName
        certificateAuthorityFile = settings.certificateAuthorityFile
        allowsPlainHTTP = settings.allowsPlainHTTP
        authenticatesHeartbeats = settings.authenticatesHeartbeats
        requiresEncryptedHeartbeats = settings.requiresEncryptedHeartbeats
        persistsLog = settings.persistsLog
    }

    private init(
        serverURL: String?, wantsUp: Bool, startsAutomatically: Bool, isProvisioned: Bool,
        interfaceName: String, certificateAuthorityFile: String?, allowsPlainHTTP: Bool,
        authenticatesHeartbeats: Bool, requiresEncryptedHeartbeats: Bool, persistsLog: Bool
    ) {
        self.serverURL = serverURL
        self.wantsUp = wantsUp
        self.startsAutomatically = startsAutomatically
        self.isProvisioned = isProvisioned
        self.interfaceName = interfaceName
        self.certificateAuthorityFile = certificateAuthorityFile
        self.allowsPlainHTTP = allowsPlainHTTP
        self.authenticatesHeartbeats = authenticatesHeartbeats
        self.requiresEncryptedHeartbeats = requiresEncryptedHeartbeats
        self.persistsLog = persistsLog
    }

    /// The settings that it holds.
    var settings: AgentConfig {
        var settings = AgentConfig()
        settings.serverURL = serverURL
        settings.wantsUp = wantsUp
        settings.startsAutomatically = startsAutomatically
        settings.isProvisioned = isProvisioned
        settings.interfaceName = interfaceName
        settings.certificateAuthorityFile = certificateAuthorityFile
        settings.allowsPlainHTTP = allowsPlainHTTP
        settings.authenticatesHeartbeats = authenticatesHeartbeats
        settings.requiresEncryptedHeartbeats = requiresEncryptedHeartbeats
        settings.persistsLog = persistsLog
        return settings
    }

    func content() -> ErasedBuffer {
        var writer = JSONWriter()
        writer.beginObject()
        if let serverURL { writer.member("serverURL", serverURL) }
        writer.member("wantsUp", wantsUp)
        writer.member("startsAutomatically", startsAutomatically)
        writer.member("isProvisioned", isProvisioned)
        writer.member("interfaceName", interfaceName)
        if let certificateAuthorityFile {
            writer.member("certificateAuthorityFile", certificateAuthorityFile)
        }
        writer.member("allowsPlainHTTP", allowsPlainHTTP)
        writer.member("authenticatesHeartbeats", authenticatesHeartbeats)
        writer.member("requiresEncryptedHeartbeats", requiresEncryptedHeartbeats)
        writer.member("persistsLog", persistsLog)
        writer.endObject()
        var bytes = writer.finish()
        return ErasedBuffer(erasing: &bytes)
    }
}
