// SPDX-License-Identifier: MIT

public import NexusGuard

/// What the control server gives a device: its identity and its tunnel.
///
/// The values are checked: whoever holds one can bring it up. Printing shows neither keys nor the whole device.
public struct WireGuardConfig: Sendable, CustomStringConvertible, CustomReflectable {
    /// The keepalive interval when the server names none, in seconds.
    public static let defaultKeepalive: UInt16 = 25

    /// The server's name for this device, 1 to 128 bytes.
    public var deviceID: String
    /// This device's static key.
    public var privateKey: PrivateKey
    /// The preshared key; `nil` when the server uses none.
    public var presharedKey: PresharedKey?
    /// The addresses of the interface, at least one.
    public var addresses: [InterfaceAddress]
    /// The server's static key.
    public var serverPublicKey: PublicKey
    /// Where the server is.
    public var endpoint: Endpoint
    /// The name servers, at most four.
    public var nameServers: [IPAddress]
    /// The prefixes that go through the tunnel.
    public var allowedIPs: [IPPrefix]
    /// The server's address inside the tunnel.
    public var serverAddress: IPAddress?
    /// The MTU of the interface, 576 to 65535; `nil` stands for the engine's default.
    public var mtu: Int?
    /// The interval of keepalives in seconds; 0 turns them off.
    public var keepalive: UInt16
    /// The server's own digest of the configuration, for information.
    public var configHash: String?
    /// Changes when the forwards change.
    public var forwardsHash: String?
    /// The forwards, where the server sends them along.
    public var forwards: [PortForward]?
    /// The page of the server for administrators.
    public var adminURL: String?

    /// Creates a configuration from checked values.
    public init(
        deviceID: String, privateKey: PrivateKey, presharedKey: PresharedKey? = nil,
        addresses: [InterfaceAddress], serverPublicKey: PublicKey, endpoint: Endpoint,
        nameServers: [IPAddress] = [], allowedIPs: [IPPrefix], serverAddress: IPAddress? = nil,
        mtu: Int? = nil, keepalive: UInt16 = WireGuardConfig.defaultKeepalive, configHash: String? = nil,
        forwardsHash: String? = nil, forwards: [PortForward]? = nil, adminURL: String? = nil
    ) {
        self.deviceID = deviceID
        self.privateKey = privateKey
        self.presharedKey = presharedKey
        self.addresses = addresses
        self.serverPublicKey = serverPublicKey
        self.endpoint = endpoint
        self.nameServers = nameServers
        self.allowedIPs = allowedIPs
        self.serverAddress = serverAddress
        self.mtu = mtu
        self.keepalive = keepalive
        self.configHash = configHash
        self.forwardsHash = forwardsHash
        self.forwards = forwards
        self.adminURL = adminURL
    }

    /// Says which device this is for, masked, and where the server is.
    public var description: String {
        "WireGuardConfig(device: \(DeviceIDMask.mask(deviceID)), endpoint: \(endpoint))"
    }

    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
