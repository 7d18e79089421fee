// SPDX-License-Identifier: MIT

internal import NexusGuard

/// The JSON form of a device's configuration: the fields of a heartbeat response.
///
/// Names are in snake case; camel case is read too. Lists may be lists or one text with commas. Keys are 64
/// hexadecimal digits or 44 base64 characters. Fields that are not known are ignored.
public enum WireGuardConfigCodec {
    /// The most bytes of `config_hash` and `forwards_hash`.
    public static let longestHash = 256
    /// The most bytes of a document; what a server can send in 64 KiB is never longer when it is written.
    public static let largestDocument = 262_144
    /// The most bytes of an endpoint.
    private static let longestEndpoint = 320

    /// Reads a configuration.
    ///
    /// - Parameters:
    ///   - json: The document, at most `largestDocument` bytes.
    ///   - requiresStatus: Whether the field `status` must be there, as in a heartbeat response.
    /// - Throws: `AgentError.configInvalid` that names the field, and never shows a value that may be secret.
    public static func parse(_ json: [UInt8], requiresStatus: Bool) throws(AgentError) -> WireGuardConfig {
        try parse(JSONFields(parsing: json, limit: largestDocument), requiresStatus: requiresStatus)
    }

    /// Writes a configuration, with the keys in it.
    public static func serialise(_ config: WireGuardConfig) -> [UInt8] {
        serialise(config) { _ in }
    }

    /// Reads a configuration from an object.
    package static func parse(
        _ fields: JSONFields, requiresStatus: Bool, defaultDeviceID: String? = nil
    ) throws(AgentError) -> WireGuardConfig {
        if requiresStatus {
            let status = try fields.nonEmptyText("status", limit: HeartbeatRequest.longestStatus)
            _ = try fields.required("status", status)
        }
        let deviceID: String
        if let defaultDeviceID, try fields.value("device_id") == nil {
            deviceID = defaultDeviceID
        } else {
            deviceID = try DeviceIDMask.deviceID(of: fields)
        }
        let config = WireGuardConfig(
            deviceID: deviceID,
            privateKey: try KeyField.privateKey(of: fields),
            presharedKey: try KeyField.presharedKey(of: fields),
            addresses: try addresses(of: fields),
            serverPublicKey: try KeyField.serverPublicKey(of: fields),
            endpoint: try endpoint(of: fields),
            nameServers: try nameServers(of: fields),
            allowedIPs: try allowedIPs(of: fields),
            serverAddress: try serverAddress(of: fields),
            mtu: try fields.integer("mtu", in: WireGuardConfigRules.mtu),
            keepalive: try fields.integer("keepalive", in: 0...65535).map { UInt16($0) }
                ?? WireGuardConfig.defaultKeepalive,
            configHash: try fields.nonEmptyText("config_hash", limit: longestHash),
            forwardsHash: try fields.nonEmptyText("forwards_hash", limit: longestHash),
            forwards: try PortForward.list(of: fields),
            adminURL: try fields.nonEmptyText("admin_url", limit: WireGuardConfigRules.longestURL))
        return try WireGuardConfigRules.checked(config)
    }

    /// Writes a configuration and further members behind its own.
    package static func serialise(
        _ config: WireGuardConfig, further: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        let lists = config.allowedIPs.count + config.addresses.count + config.nameServers.count
        var writer = JSONWriter(capacity: 8192 + 64 * lists + 128 * (config.forwards?.count ?? 0))
        writer.beginObject()
        writer.member("device_id", config.deviceID)
        writer.name("internal_ip")
        writer.value(config.addresses.map(\.description).joined(separator: ", "))
        writer.name("private_key")
        config.privateKey.withBytes { writer.hexadecimal($0) }
        writer.name("preshared_key")
        if let presharedKey = config.presharedKey {
            presharedKey.withBytes { writer.hexadecimal($0) }
        } else {
            writer.value("")
        }
        writer.member("server_pub", config.serverPublicKey.hexadecimal)
        writeOpenFields(config, to: &writer)
        further(&writer)
        writer.endObject()
        return writer.finish()
    }

    /// Writes the members that name neither the device nor a key.
    static func writeOpenFields(_ config: WireGuardConfig, to writer: inout JSONWriter) {
        writer.member("endpoint", config.endpoint.description)
        writer.member("dns", config.nameServers.map(\.description).joined(separator: ", "))
        writer.member("allowed_ips", config.allowedIPs.map(\.description).joined(separator: ", "))
        writer.member("server_wg_ip", config.serverAddress?.description ?? "")
        if let mtu = config.mtu { writer.member("mtu", mtu) }
        writer.member("keepalive", Int(config.keepalive))
        if let configHash = config.configHash { writer.member("config_hash", configHash) }
        writer.member("forwards_hash", config.forwardsHash ?? "")
        if let adminURL = config.adminURL { writer.member("admin_url", adminURL) }
        if let forwards = config.forwards { PortForward.write(forwards, to: &writer) }
    }

    // MARK: Fields

    private static func addresses(of fields: JSONFields) throws(AgentError) -> [InterfaceAddress] {
        let name = "internal_ip"
        let texts = try fields.required(
            name, fields.texts(name, limit: WireGuardConfigRules.largestAddressCount))
        var addresses: [InterfaceAddress] = []
        for (index, text) in texts.enumerated() {
            guard let address = try? InterfaceAddress(text) else {
                throw fields.invalid(
                    "\(name)[\(index)]",
                    "\(ShownText.value(text)) is not an IP address with or without /length")
            }
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }

    private static func allowedIPs(of fields: JSONFields) throws(AgentError) -> [IPPrefix] {
        let name = "allowed_ips"
        let texts = try fields.required(
            name, fields.texts(name, limit: WireGuardConfigRules.largestAllowedIPCount))
        var prefixes: [IPPrefix] = []
        var seen: Set<IPPrefix> = []
        for (index, text) in texts.enumerated() {
            guard let prefix = try? IPPrefix(text) else {
                throw fields.invalid(
                    "\(name)[\(index)]",
                    "\(ShownText.value(text)) is not an IP address with or without /length")
            }
            if seen.insert(prefix).inserted { prefixes.append(prefix) }
        }
        return prefixes
    }

    private static func nameServers(of fields: JSONFields) throws(AgentError) -> [IPAddress] {
        let name = "dns"
        let texts = try fields.texts(name, limit: WireGuardConfigRules.largestNameServerCount) ?? []
        var servers: [IPAddress] = []
        for (index, text) in texts.enumerated() {
            guard let address = try? IPAddress(text) else {
                throw fields.invalid("\(name)[\(index)]", "\(ShownText.value(text)) is not an IP address")
            }
            if !servers.contains(address) { servers.append(address) }
        }
        return servers
    }

    private static func serverAddress(of fields: JSONFields) throws(AgentError) -> IPAddress? {
        let name = "server_wg_ip"
        guard let text = try fields.nonEmptyText(name, limit: 64) else { return nil }
        // A server may write the length of its network behind its address.
        guard let address = try? InterfaceAddress(text) else {
            throw fields.invalid(name, "\(ShownText.value(text)) is not an IP address")
        }
        return address.address
    }

    private static func endpoint(of fields: JSONFields) throws(AgentError) -> Endpoint {
        let name = "endpoint"
        let text = try fields.required(name, fields.nonEmptyText(name, limit: longestEndpoint))
        guard let endpoint = try? Endpoint(text) else {
            throw fields.invalid(
                name, "\(ShownText.value(text)) is not host:port, with brackets around an IPv6 address")
        }
        return endpoint
    }
}
