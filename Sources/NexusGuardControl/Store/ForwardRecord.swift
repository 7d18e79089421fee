// SPDX-License-Identifier: MIT

package import AgentCore
package import FoundationEssentials

/// A forward and the device that it belongs to.
package struct ForwardRecord: Hashable, Sendable {
    /// The device.
    package let deviceID: String
    /// What is forwarded; protocol and public port together name it.
    package let forward: PortForward
    /// When it was added.
    package let createdAt: Date

    /// Creates a record.
    package init(deviceID: String, forward: PortForward, createdAt: Date) {
        self.deviceID = deviceID
        self.forward = forward
        self.createdAt = createdAt
    }
}
