// SPDX-License-Identifier: MIT

public import AgentCore

/// A forwarded port, as people and programs are shown it.
public struct ForwardSummary: Codable, Hashable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case transportProtocol = "protocol"
        case publicPort, targetAddress, targetPort
    }

    /// The transport protocol.
    public var transportProtocol: PortForward.TransportProtocol
    /// The port on the server.
    public var publicPort: UInt16
    /// The host behind the tunnel.
    public var targetAddress: String
    /// The port on that host.
    public var targetPort: UInt16

    /// Describes a forward.
    public init(_ forward: PortForward) {
        transportProtocol = forward.transportProtocol
        publicPort = forward.publicPort
        targetAddress = "\(forward.targetAddress)"
        targetPort = forward.targetPort
    }
}
