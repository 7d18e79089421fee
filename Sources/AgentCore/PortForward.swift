// SPDX-License-Identifier: MIT

public import NexusGuard

/// A port of the server that is forwarded to a host behind the tunnel.
public struct PortForward: Hashable, Sendable {
    /// The transport protocol of a forward.
    public enum TransportProtocol: String, Codable, CaseIterable, Hashable, Sendable {
        /// Transmission Control Protocol.
        case tcp
        /// User Datagram Protocol.
        case udp
    }

    /// The transport protocol.
    public let transportProtocol: TransportProtocol
    /// The port on the server, 1 to 65535.
    public let publicPort: UInt16
    /// The host behind the tunnel.
    public let targetAddress: IPAddress
    /// The port on that host, 1 to 65535.
    public let targetPort: UInt16

    /// Creates a forward.
    public init(
        transportProtocol: TransportProtocol, publicPort: UInt16, targetAddress: IPAddress, targetPort: UInt16
    ) {
        self.transportProtocol = transportProtocol
        self.publicPort = publicPort
        self.targetAddress = targetAddress
        self.targetPort = targetPort
    }
}
