// SPDX-License-Identifier: MIT

package import NexusGuard

/// What the server peer shall be, worked out from the devices.
package struct PeerPlan: Sendable {
    /// A generation of a device's keys.
    package struct Key: Hashable, Sendable {
        /// The device.
        package let deviceID: String
        /// The generation.
        package let generation: Int
    }

    /// The peers: one for each generation that is accepted.
    package private(set) var peers: [PeerConfiguration] = []
    /// The generations that were never seen in use, by their public keys.
    package private(set) var unused: [PublicKey: Key] = [:]
    /// The public keys that were worked out, to be used again.
    package private(set) var known: [Key: PublicKey] = [:]

    /// Works the plan out.
    ///
    /// An address leads to one peer only: of a device with several generations the one in use has its addresses,
    /// and another gets them once a handshake shows that the device moved on.
    ///
    /// - Parameters:
    ///   - devices: All devices.
    ///   - former: The public keys of an earlier plan, which saves working them out.
    package init(_ devices: [DeviceRecord], former: [Key: PublicKey] = [:]) {
        for device in devices where device.revocation == nil {
            let current = device.keysInUse?.generation
            for keys in device.keys {
                let key = Key(deviceID: device.id, generation: keys.generation)
                guard let publicKey = former[key] ?? keys.wireGuardPrivateKey?.publicKey else { continue }
                known[key] = publicKey
                if keys.usedAt == nil { unused[publicKey] = key }
                let prefixes =
                    keys.generation == current
                    ? device.addresses.compactMap { IPPrefix(address: $0, length: $0.bitCount) } : []
                peers.append(
                    PeerConfiguration(
                        publicKey: publicKey, presharedKey: keys.wireGuardPresharedKey, allowedIPs: prefixes))
            }
        }
    }
}
