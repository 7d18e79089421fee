// SPDX-License-Identifier: MIT

internal import AgentCore
internal import NexusGuard

/// One difference that an import would make, as people are shown it: keys are never in it.
struct ConfigChange: Equatable {
    /// The name of the field.
    var field: String
    /// What it is now; `nil` when there is nothing.
    var from: String?
    /// What it will be; `nil` when there will be nothing.
    var to: String?

    /// The differences between two configurations.
    static func between(_ old: WireGuardConfig?, _ new: WireGuardConfig) -> [ConfigChange] {
        func list(_ items: [some CustomStringConvertible]?) -> String? {
            guard let items, !items.isEmpty else { return nil }
            return items.map(\.description).joined(separator: ", ")
        }
        var changes = [
            ConfigChange(
                field: "device", from: old.map { DeviceIDMask.mask($0.deviceID) },
                to: DeviceIDMask.mask(new.deviceID)),
            ConfigChange(field: "addresses", from: list(old?.addresses), to: list(new.addresses)),
            ConfigChange(
                field: "publicKey", from: old?.privateKey.publicKey.base64,
                to: new.privateKey.publicKey.base64),
            ConfigChange(
                field: "serverPublicKey", from: old?.serverPublicKey.base64,
                to: new.serverPublicKey.base64),
            ConfigChange(
                field: "endpoint", from: old?.endpoint.description, to: new.endpoint.description),
            ConfigChange(field: "allowedIPs", from: list(old?.allowedIPs), to: list(new.allowedIPs)),
            ConfigChange(
                field: "nameServers", from: list(old?.nameServers), to: list(new.nameServers)),
            ConfigChange(
                field: "mtu", from: old?.mtu.map(String.init), to: new.mtu.map(String.init)),
            ConfigChange(
                field: "keepalive", from: old.map { "\($0.keepalive) s" }, to: "\(new.keepalive) s"),
        ].filter { $0.from != $0.to }
        if let change = presharedKey(old?.presharedKey, new.presharedKey) { changes.append(change) }
        return changes
    }

    /// The difference of preshared keys, told without them.
    private static func presharedKey(_ old: PresharedKey?, _ new: PresharedKey?) -> ConfigChange? {
        let field = "presharedKey"
        switch (old, new) {
        case (nil, nil): return nil
        case (nil, .some): return ConfigChange(field: field, from: nil, to: "(set)")
        case (.some, nil): return ConfigChange(field: field, from: "(set)", to: nil)
        case (let old?, let new?):
            return old.isEqual(to: new) ? nil : ConfigChange(field: field, from: "(set)", to: "(another)")
        }
    }
}
