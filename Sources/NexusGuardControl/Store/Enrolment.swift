// SPDX-License-Identifier: MIT

package import AgentCore
package import FoundationEssentials

/// A request for an identity, with what a new one is made of.
package struct Enrolment: Sendable {
    /// What became of the request.
    package enum Outcome: Sendable {
        /// A new identity; the token is bound to it.
        case created(DeviceRecord)
        /// The identity that the same token and hardware identifier got before.
        case existing(DeviceRecord)
        /// The token is unknown, expired or taken back, or its device is revoked.
        case refused
        /// The token is bound to another hardware identifier.
        case boundElsewhere
        /// A pool has no free address.
        case poolExhausted
    }

    /// The identifier of the token.
    package let tokenID: String
    /// The digest of the token.
    package let tokenDigest: [UInt8]
    /// The hardware identifier.
    package let hwid: String
    /// SHA-256 of token and hardware identifier.
    package let provisioningKey: ProvisioningKey
    /// The identifier of a new device.
    package let deviceID: String
    /// The keys of a new device.
    package let keys: DeviceKeys
    /// Where a new device's addresses come from, one of each.
    package let pools: [AddressPool]
    /// The time of the request.
    package let at: Date

    /// Creates a request.
    package init(
        tokenID: String, tokenDigest: [UInt8], hwid: String, provisioningKey: ProvisioningKey,
        deviceID: String,
        keys: DeviceKeys, pools: [AddressPool], at: Date
    ) {
        self.tokenID = tokenID
        self.tokenDigest = tokenDigest
        self.hwid = hwid
        self.provisioningKey = provisioningKey
        self.deviceID = deviceID
        self.keys = keys
        self.pools = pools
        self.at = at
    }
}
