// SPDX-License-Identifier: MIT

package import AgentCore
package import FoundationEssentials
package import NexusGuard

/// What the store knows of a device.
package struct DeviceRecord: Sendable {
    /// How a device lost its identity.
    package enum Revocation: String, Sendable {
        /// The operator took it back.
        case revoked
        /// The device gave it back.
        case deprovisioned
    }

    /// What a device said of itself.
    package struct Report: Hashable, Sendable {
        /// Its own word for its state, at most 64 bytes.
        package let status: String
        /// Whether its tunnel is up.
        package let isTunnelUp: Bool
        /// Its last handshake, if there was one.
        package let lastHandshake: Date?
        /// The address that it spoke from, if known.
        package let address: String?

        /// Creates a report.
        package init(status: String, isTunnelUp: Bool, lastHandshake: Date?, address: String?) {
            self.status = status
            self.isTunnelUp = isTunnelUp
            self.lastHandshake = lastHandshake
            self.address = address
        }
    }

    /// A random UUID.
    package let id: String
    /// The hardware identifier that the device gave.
    package let hwid: String
    /// The token that it was provisioned with.
    package let tokenID: String
    /// The name that the operator gave the token.
    package let name: String?
    /// SHA-256 of token and hardware identifier: authenticates requests and encrypts answers.
    package let provisioningKey: ProvisioningKey
    /// Its addresses inside the tunnel; none after it was revoked.
    package let addresses: [IPAddress]
    /// When it was provisioned.
    package let createdAt: Date
    /// How and when it lost its identity, if it did.
    package let revocation: (kind: Revocation, at: Date)?
    /// When it last spoke to the server, if it did.
    package let lastSeen: Date?
    /// What it last said, if it did.
    package let report: Report?
    /// The generations of keys that the server accepts, the oldest first; none after it was revoked.
    package let keys: [DeviceKeys]

    /// Creates a record.
    package init(
        id: String, hwid: String, tokenID: String, name: String?, provisioningKey: ProvisioningKey,
        addresses: [IPAddress], createdAt: Date, revocation: (kind: Revocation, at: Date)? = nil,
        lastSeen: Date? = nil, report: Report? = nil, keys: [DeviceKeys]
    ) {
        self.id = id
        self.hwid = hwid
        self.tokenID = tokenID
        self.name = name
        self.provisioningKey = provisioningKey
        self.addresses = addresses
        self.createdAt = createdAt
        self.revocation = revocation
        self.lastSeen = lastSeen
        self.report = report
        self.keys = keys
    }

    /// The generation that the device gets with its next answer.
    package var newestKeys: DeviceKeys? { keys.last }

    /// The generation that the device uses as far as is known: the newest that was seen in use, else the first.
    package var keysInUse: DeviceKeys? { keys.last { $0.usedAt != nil } ?? keys.first }
}
