// SPDX-License-Identifier: MIT

internal import NexusGuard

/// A configuration that the user brings: JSON, plain or as `WireGuardConfigExport` encrypts it, or a `wg-quick` file.
public struct WireGuardConfigImport: Sendable {
    /// The most bytes that are read.
    public static let largestText = 524_288

    /// The configuration, checked like one of the control server.
    public let config: WireGuardConfig
    /// What the text has and the agent does not use, one sentence each, without secrets.
    public let remarks: [String]

    /// Reads a configuration.
    ///
    /// A text that begins with `{` is JSON, every other one a `wg-quick` file. Such a file must have one peer with an
    /// endpoint. Its commands are never run.
    ///
    /// - Parameters:
    ///   - text: UTF-8; the caller can erase it afterwards.
    ///   - deviceID: The device when the text names none, as a `wg-quick` file never does.
    ///   - passphrase: What opens an encrypted export; not used for other texts.
    /// - Throws: `AgentError.configInvalid` that names the field, and in a `wg-quick` file the line.
    public init(_ text: [UInt8], deviceID: String, passphrase: [UInt8]? = nil) throws(AgentError) {
        guard text.count <= Self.largestText else {
            throw .configInvalid(field: "document", reason: "has more than \(Self.largestText) bytes")
        }
        guard let first = text.first(where: { !Self.isSpace($0) }) else {
            throw .configInvalid(field: "document", reason: "is empty")
        }
        guard first == UInt8(ascii: "{") else {
            (config, remarks) = try Self.read(file: text, deviceID: deviceID)
            return
        }
        let fields = try JSONFields(parsing: text, limit: Self.largestText)
        remarks = []
        guard try WireGuardConfigExport.isEncrypted(fields) else {
            config = try Self.read(fields, deviceID: deviceID)
            return
        }
        guard let passphrase else {
            throw .configInvalid(field: "passphrase", reason: "is missing, and the export is encrypted")
        }
        var plaintext = try WireGuardConfigExport.open(fields, passphrase: passphrase)
        defer { plaintext.erase() }
        config = try Self.read(JSONFields(parsing: plaintext, limit: Self.largestText), deviceID: deviceID)
    }

    /// Reads a configuration without the remarks.
    ///
    /// - Throws: As the initialiser.
    public static func parse(_ text: [UInt8], deviceID: String) throws(AgentError) -> WireGuardConfig {
        try WireGuardConfigImport(text, deviceID: deviceID).config
    }

    private static func read(_ fields: JSONFields, deviceID: String) throws(AgentError) -> WireGuardConfig {
        guard try fields.bool("redacted") != true else {
            throw fields.invalid("private_key", "is left out of a redacted export: make one with its secrets")
        }
        return try WireGuardConfigCodec.parse(fields, requiresStatus: false, defaultDeviceID: deviceID)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    // MARK: Files of wg-quick

    private static func read(
        file text: [UInt8], deviceID: String
    ) throws(AgentError) -> (WireGuardConfig, [String]) {
        let file: ConfigurationFile
        do {
            file = try ConfigurationFile(parsing: text.span.bytes)
        } catch {
            throw .configInvalid(
                field: "line \(error.line): \(error.key)", reason: withoutSecret(error.reason))
        }
        guard let peer = file.tunnel.peers.first else {
            throw .configInvalid(field: "[Peer]", reason: "is missing")
        }
        guard file.tunnel.peers.count == 1 else {
            throw .configInvalid(
                field: "[Peer]", reason: "comes \(file.tunnel.peers.count) times; the agent has one peer")
        }
        guard let endpoint = peer.endpoint else {
            throw .configInvalid(field: "Endpoint", reason: "is missing")
        }
        let config = WireGuardConfig(
            deviceID: deviceID, privateKey: file.tunnel.privateKey, presharedKey: peer.presharedKey,
            addresses: file.addresses, serverPublicKey: peer.publicKey, endpoint: endpoint,
            nameServers: file.nameServers, allowedIPs: peer.allowedIPs, mtu: file.mtu,
            keepalive: peer.persistentKeepalive)
        do {
            return (try WireGuardConfigRules.checked(config), remarks(on: file))
        } catch {
            guard case .configInvalid(let field, let reason) = error else { throw error }
            throw .configInvalid(field: nameInFile(field), reason: reason)
        }
    }

    /// The reason with the value that it quotes only if a token could not stand there.
    ///
    /// The engine's parser keeps keys out of its errors; a token may be shorter than a key.
    private static func withoutSecret(_ reason: String) -> String {
        guard let first = reason.firstIndex(of: "'"), let last = reason.lastIndex(of: "'"), first < last
        else {
            return reason
        }
        let value = ShownText.value(reason[reason.index(after: first)..<last])
        return reason[..<first] + value + reason[reason.index(after: last)...]
    }

    /// The name that a `wg-quick` file has for a field of the JSON form.
    private static func nameInFile(_ field: String) -> String {
        let names = [
            "internal_ip": "Address", "server_pub": "PublicKey", "endpoint": "Endpoint", "dns": "DNS",
            "allowed_ips": "AllowedIPs", "mtu": "MTU",
        ]
        let name = field.prefix { $0 != "[" }
        return names[String(name)].map { $0 + field.dropFirst(name.count) } ?? field
    }

    /// What the agent leaves aside.
    private static func remarks(on file: ConfigurationFile) -> [String] {
        var remarks = file.warnings.map(\.description)
        if file.tunnel.listenPort != 0 { remarks.append("ListenPort is not used: the system chooses a port") }
        if file.tunnel.firewallMark != 0 { remarks.append("FwMark is not used: the agent has its own") }
        if file.table != .automatic { remarks.append("Table is not used: the agent makes its own routes") }
        if !file.searchDomains.isEmpty { remarks.append("search domains in DNS are not used") }
        let commands = [file.preUp, file.postUp, file.preDown, file.postDown]
        if commands.contains(where: { !$0.isEmpty }) {
            remarks.append("PreUp, PostUp, PreDown and PostDown are not used: the agent runs no commands")
        }
        if file.savesConfiguration { remarks.append("SaveConfig is not used") }
        return remarks
    }
}
