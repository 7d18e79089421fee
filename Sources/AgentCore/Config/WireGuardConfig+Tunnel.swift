// SPDX-License-Identifier: MIT

public import NexusGuard

extension WireGuardConfig {
    /// SHA-256 over the fields of the tunnel in a form that does not depend on how they were written.
    ///
    /// Neither the order of addresses and prefixes nor the spelling of keys, names and addresses counts. What only
    /// informs does not either: the device, the server's digests, forwards and pages. Two configurations of a device
    /// have the same digest when their difference is `.none` or `.forwards`.
    public var tunnelDigest: [UInt8] {
        SHA256.digest { hash in
            func put(_ label: String, _ texts: [String]) {
                hash.update(label + "\n")
                hash.update(UInt64(texts.count))
                for text in texts {
                    hash.update(UInt64(text.utf8.count))
                    hash.update(text)
                }
            }
            hash.update("nexusguard/tunnel-digest/v1\n")
            privateKey.withBytes { hash.update($0) }
            hash.update(UInt64(presharedKey == nil ? 0 : 1))
            if let presharedKey { presharedKey.withBytes { hash.update($0) } }
            serverPublicKey.withBytes { hash.update($0) }
            put("addresses", Set(addresses.map(\.description)).sorted())
            put("allowed-ips", Set(allowedIPs.map(\.description)).sorted())
            put("endpoint", [canonicalEndpoint])
            put("dns", nameServers.map(\.description))
            put("server-address", serverAddress.map { [$0.description] } ?? [])
            put("mtu", mtu.map { [String($0)] } ?? [])
            put("keepalive", [String(keepalive)])
        }
    }

    /// What the engine runs: this device's key and the server as its one peer.
    ///
    /// - Parameter firewallMark: The mark on the tunnel's own datagrams, which keeps them out of the tunnel.
    public func tunnelConfiguration(firewallMark: UInt32) -> TunnelConfiguration {
        TunnelConfiguration(
            privateKey: privateKey, firewallMark: firewallMark,
            peers: [
                PeerConfiguration(
                    publicKey: serverPublicKey, presharedKey: presharedKey, allowedIPs: allowedIPs,
                    endpoint: endpoint, persistentKeepalive: keepalive)
            ])
    }
}
