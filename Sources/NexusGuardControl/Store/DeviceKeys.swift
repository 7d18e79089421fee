// SPDX-License-Identifier: MIT

package import AgentCore
package import FoundationEssentials
package import NexusGuard

/// One generation of a device's keys.
package struct DeviceKeys: Sendable {
    /// Rises by one with each rotation, from 1.
    package let generation: Int
    /// The static private key, 32 bytes.
    package let privateKey: SecretBytes
    /// The preshared key, 32 bytes, if the server uses them.
    package let presharedKey: SecretBytes?
    /// When the generation was made.
    package let createdAt: Date
    /// When it was first given to the device, if it was.
    package var deliveredAt: Date?
    /// When the device was first seen to use it, if it was.
    package var usedAt: Date?

    /// Creates a generation.
    package init(
        generation: Int, privateKey: SecretBytes, presharedKey: SecretBytes?, createdAt: Date,
        deliveredAt: Date? = nil, usedAt: Date? = nil
    ) {
        self.generation = generation
        self.privateKey = privateKey
        self.presharedKey = presharedKey
        self.createdAt = createdAt
        self.deliveredAt = deliveredAt
        self.usedAt = usedAt
    }

    /// The private key as the engine takes it; `nil` when the record has a wrong size.
    package var wireGuardPrivateKey: PrivateKey? {
        privateKey.withBytes { try? PrivateKey(rawRepresentation: $0) }
    }

    /// The preshared key as the engine takes it, if there is one.
    package var wireGuardPresharedKey: PresharedKey? {
        presharedKey?.withBytes { try? PresharedKey(rawRepresentation: $0) }
    }
}
