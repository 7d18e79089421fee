// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// The running tunnel, as people and programs are shown it.
public struct TunnelInfo: Codable, Hashable, Sendable {
    /// The name of the interface.
    public var interface: String
    /// The addresses of the interface, each with the length of its network.
    public var addresses: [String]
    /// The prefixes that go through the tunnel.
    public var allowedIPs: [String]
    /// Where the server is, as address and port; `nil` while its name is not resolved.
    public var endpoint: String?
    /// When the last handshake completed.
    public var lastHandshake: Date?
    /// Bytes received through the tunnel.
    public var receivedByteCount: UInt64
    /// Bytes sent through the tunnel.
    public var sentByteCount: UInt64
    /// The MTU of the interface.
    public var mtu: Int

    /// Creates a description.
    public init(
        interface: String, addresses: [String], allowedIPs: [String], endpoint: String? = nil,
        lastHandshake: Date? = nil, receivedByteCount: UInt64 = 0, sentByteCount: UInt64 = 0, mtu: Int
    ) {
        self.interface = interface
        self.addresses = addresses
        self.allowedIPs = allowedIPs
        self.endpoint = endpoint
        self.lastHandshake = lastHandshake
        self.receivedByteCount = receivedByteCount
        self.sentByteCount = sentByteCount
        self.mtu = mtu
    }
}
