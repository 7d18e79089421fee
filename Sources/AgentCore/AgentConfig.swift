// SPDX-License-Identifier: MIT

/// The settings of the agent; none of them is a secret.
public struct AgentConfig: Codable, Hashable, Sendable {
    /// The base address of the control server, such as `https://control.example.net`; `nil` before it is set.
    public var serverURL: String?
    /// Whether the tunnel is wanted up; kept over reboots.
    public var wantsUp: Bool
    /// Whether the agent brings the tunnel up when the host starts.
    public var startsAutomatically: Bool
    /// Whether a device identity has been received and stored.
    public var isProvisioned: Bool
    /// The name of the interface, 1 to 15 bytes.
    public var interfaceName: String
    /// A file with further certificate authorities to trust, in PEM; `nil` trusts the system's alone.
    public var certificateAuthorityFile: String?
    /// Whether plain HTTP is allowed to other hosts than loopback.
    public var allowsPlainHTTP: Bool
    /// Whether requests carry a proof that the sender knows the device's key.
    public var authenticatesHeartbeats: Bool
    /// Whether heartbeat responses must come encrypted.
    public var requiresEncryptedHeartbeats: Bool
    /// Whether the log is kept in a file over restarts.
    public var persistsLog: Bool

    /// The settings of a new installation.
    public init() {
        serverURL = nil
        wantsUp = false
        startsAutomatically = true
        isProvisioned = false
        interfaceName = "nexusguard0"
        certificateAuthorityFile = nil
        allowsPlainHTTP = false
        authenticatesHeartbeats = true
        requiresEncryptedHeartbeats = false
        persistsLog = false
    }
}
