// SPDX-License-Identifier: MIT

internal import NexusGuard

/// What every configuration keeps to, wherever it comes from.
enum WireGuardConfigRules {
    /// The most addresses of the interface.
    static let largestAddressCount = 16
    /// The most prefixes that go through the tunnel.
    static let largestAllowedIPCount = 1024
    /// The most name servers.
    static let largestNameServerCount = 4
    /// The MTU that an interface can have.
    static let mtu = 576...65535
    /// The least MTU for IPv6 (RFC 8200 section 5).
    private static let leastIPv6MTU = 1280
    /// The most bytes of the address of a page.
    static let longestURL = 2048

    /// Gives the configuration back if it keeps to the rules.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field as the JSON form does.
    static func checked(_ config: WireGuardConfig) throws(AgentError) -> WireGuardConfig {
        try checkText("device_id", config.deviceID, limit: DeviceIDMask.longestDeviceID)
        guard !config.deviceID.isEmpty else { throw invalid("device_id", "is empty") }
        guard config.serverPublicKey != config.privateKey.publicKey else {
            throw invalid("server_pub", "is this device's own key")
        }
        try checkAddresses(config)
        try checkEndpoint(config.endpoint)
        guard config.nameServers.count <= largestNameServerCount else {
            throw invalid("dns", "has more than \(largestNameServerCount) items")
        }
        for (index, address) in config.nameServers.enumerated() where !isHost(address) {
            throw invalid("dns[\(index)]", "\(address) is not the address of a host")
        }
        guard !config.allowedIPs.isEmpty else { throw invalid("allowed_ips", "is empty") }
        guard config.allowedIPs.count <= largestAllowedIPCount else {
            throw invalid("allowed_ips", "has more than \(largestAllowedIPCount) items")
        }
        if let address = config.serverAddress, !isHost(address) {
            throw invalid("server_wg_ip", "\(address) is not the address of a host")
        }
        if let mtu = config.mtu {
            guard Self.mtu.contains(mtu) else {
                throw invalid("mtu", "is not from \(Self.mtu.lowerBound) to \(Self.mtu.upperBound)")
            }
            guard mtu >= leastIPv6MTU || !config.addresses.contains(where: \.address.isIPv6) else {
                throw invalid("mtu", "is below \(leastIPv6MTU), which IPv6 needs")
            }
        }
        if let hash = config.configHash {
            try checkText("config_hash", hash, limit: WireGuardConfigCodec.longestHash)
        }
        if let hash = config.forwardsHash {
            try checkText("forwards_hash", hash, limit: WireGuardConfigCodec.longestHash)
        }
        if let url = config.adminURL { try checkURL("admin_url", url) }
        return config
    }

    private static func checkAddresses(_ config: WireGuardConfig) throws(AgentError) {
        let name = "internal_ip"
        guard !config.addresses.isEmpty else { throw invalid(name, "is empty") }
        guard config.addresses.count <= largestAddressCount else {
            throw invalid(name, "has more than \(largestAddressCount) items")
        }
        for (index, address) in config.addresses.enumerated() {
            guard isHost(address.address), !AddressRules.isLoopback(address.address) else {
                throw invalid("\(name)[\(index)]", "\(address.address) is not the address of an interface")
            }
            guard address.length > 0 else {
                throw invalid("\(name)[\(index)]", "has the length 0, which would be the whole network")
            }
        }
    }

    private static func checkEndpoint(_ endpoint: Endpoint) throws(AgentError) {
        switch endpoint.host {
        case .address(let address, let zone):
            guard isHost(address) else {
                throw invalid("endpoint", "\(address) is not the address of a host")
            }
            if let zone, !ShownText.isPlain(zone) {
                throw invalid("endpoint", "has unprintable characters")
            }
        case .name(let name):
            guard ShownText.isPlain(name) else { throw invalid("endpoint", "has unprintable characters") }
        }
        guard endpoint.port > 0 else { throw invalid("endpoint", "has the port 0") }
    }

    private static func checkText(_ name: String, _ text: String, limit: Int) throws(AgentError) {
        guard text.utf8.count <= limit else { throw invalid(name, "has more than \(limit) bytes") }
        guard ShownText.isPlain(text) else { throw invalid(name, "has unprintable characters") }
    }

    /// An address of a page is shown as a link, so other schemes could run what they carry.
    private static func checkURL(_ name: String, _ text: String) throws(AgentError) {
        try checkText(name, text, limit: longestURL)
        let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
        guard let scheme else { throw invalid(name, "begins neither with https:// nor with http://") }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("\""), !text.contains("<"),
            !text.contains(">"), !text.contains("\\")
        else { throw invalid(name, "has characters that no URL has") }
        let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.isEmpty else { throw invalid(name, "has no host") }
        guard !authority.contains("@") else { throw invalid(name, "has a user name in it") }
    }

    private static func isHost(_ address: IPAddress) -> Bool {
        !AddressRules.isUnspecified(address) && !AddressRules.isMulticast(address)
    }

    private static func invalid(_ field: String, _ reason: String) -> AgentError {
        .configInvalid(field: field, reason: reason)
    }
}
