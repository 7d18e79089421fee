// SPDX-License-Identifier: MIT

internal import AgentCore

/// Some of the settings, as a JSON object names them.
struct SettingsChange {
    private static let texts = ["serverURL", "interfaceName", "certificateAuthorityFile"]
    private static let flags = [
        "startsAutomatically", "allowsPlainHTTP", "authenticatesHeartbeats", "requiresEncryptedHeartbeats",
        "persistsLog", "wantsUp", "isProvisioned",
    ]

    /// The values by the names of `AgentConfig`.
    private var values: [String: JSONValue] = [:]

    /// Reads an object.
    ///
    /// - Throws: `AgentError.configInvalid` that names a field that is unknown or comes twice.
    init(parsing json: [UInt8]) throws(AgentError) {
        guard case .object(let members) = try JSONValue(parsing: json) else {
            throw .configInvalid(field: "settings", reason: "are no JSON object")
        }
        var names: [String: String] = [:]
        for name in Self.texts + Self.flags {
            names[name] = name
            names[Self.snakeCase(name)] = name
        }
        // In order, so that one document always gives the same error.
        for (given, value) in members.sorted(by: { $0.key < $1.key }) {
            guard let name = names[given] else {
                if given.lowercased().contains("token") {
                    throw .configInvalid(
                        field: ShownText.name(given),
                        reason: "is no setting; a token is given with: nexusguard provision")
                }
                throw .configInvalid(field: ShownText.name(given), reason: "is no setting")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw .configInvalid(field: name, reason: "is given twice, in both spellings")
            }
        }
    }

    /// The settings with the values of the change.
    ///
    /// - Throws: `AgentError.configInvalid` that names a field of the wrong type or out of range.
    func applied(to settings: AgentConfig) throws(AgentError) -> AgentConfig {
        var changed = settings
        try text("serverURL") { changed.serverURL = $0 }
        try text("certificateAuthorityFile") { changed.certificateAuthorityFile = $0 }
        try text("interfaceName") { changed.interfaceName = $0 ?? AgentConfig().interfaceName }
        try flag("startsAutomatically") { changed.startsAutomatically = $0 }
        try flag("allowsPlainHTTP") { changed.allowsPlainHTTP = $0 }
        try flag("authenticatesHeartbeats") { changed.authenticatesHeartbeats = $0 }
        try flag("requiresEncryptedHeartbeats") { changed.requiresEncryptedHeartbeats = $0 }
        try flag("persistsLog") { changed.persistsLog = $0 }
        try flag("wantsUp") { _ in }
        try flag("isProvisioned") { _ in }
        try SettingsRules.check(changed)
        return changed
    }

    private func text(_ name: String, _ set: (String?) -> Void) throws(AgentError) {
        switch values[name] {
        case nil: return
        case .null?: set(nil)
        case .string(let text)?:
            guard text.utf8.count <= SettingsRules.longestText else {
                throw .configInvalid(field: name, reason: "has more than \(SettingsRules.longestText) bytes")
            }
            set(text.utf8.count == 0 ? nil : text.string)
        case let value?: throw .configInvalid(field: name, reason: "is \(value.kind), not a string")
        }
    }

    private func flag(_ name: String, _ set: (Bool) -> Void) throws(AgentError) {
        switch values[name] {
        case nil: return
        case .bool(let value)?: set(value)
        case let value?: throw .configInvalid(field: name, reason: "is \(value.kind), not a truth value")
        }
    }

    /// The name in snake case: `serverURL` becomes `server_url` and `allowsPlainHTTP` `allows_plain_http`.
    private static func snakeCase(_ name: String) -> String {
        var result = ""
        var wasUppercase = false
        for character in name {
            if character.isUppercase, !wasUppercase, !result.isEmpty { result += "_" }
            wasUppercase = character.isUppercase
            result += character.lowercased()
        }
        return result
    }
}
