// SPDX-License-Identifier: MIT

/// The keys of a configuration file, by the names that `wg(8)` and `wg-quick(8)` give them.
enum ConfigurationFileKey: String, CaseIterable {
    case privateKey = "PrivateKey"
    case listenPort = "ListenPort"
    case firewallMark = "FwMark"
    case address = "Address"
    case dns = "DNS"
    case mtu = "MTU"
    case table = "Table"
    case preUp = "PreUp"
    case postUp = "PostUp"
    case preDown = "PreDown"
    case postDown = "PostDown"
    case saveConfig = "SaveConfig"
    case publicKey = "PublicKey"
    case presharedKey = "PresharedKey"
    case allowedIPs = "AllowedIPs"
    case endpoint = "Endpoint"
    case persistentKeepalive = "PersistentKeepalive"

    /// Finds the key of this name in any case.
    init?(_ name: RawSpan) {
        for key in Self.allCases where name.isEqual(ignoringCase: key.rawValue) {
            self = key
            return
        }
        return nil
    }

    /// Whether the key belongs to a `[Peer]` section.
    var isOfPeer: Bool {
        switch self {
        case .publicKey, .presharedKey, .allowedIPs, .endpoint, .persistentKeepalive: true
        default: false
        }
    }

    /// Whether the value is a command, in which `#` begins no comment.
    var isHook: Bool {
        switch self {
        case .preUp, .postUp, .preDown, .postDown: true
        default: false
        }
    }

    /// Whether an empty value is an empty list.
    var isList: Bool {
        switch self {
        case .address, .dns, .allowedIPs: true
        default: isHook
        }
    }
}
