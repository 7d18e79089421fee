// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Peers of the server")
struct PeerPlanTests {
    private func device(_ id: String, _ address: String, _ keys: [DeviceKeys], isRevoked: Bool = false) throws
        -> DeviceRecord
    {
        DeviceRecord(
            id: id, hwid: "h", tokenID: "t", name: nil,
            provisioningKey: CryptoManager.deriveKey(token: "t", hwid: "h"),
            addresses: isRevoked ? [] : [try IPAddress(address), try IPAddress("fd00::5")],
            createdAt: Samples.now, revocation: isRevoked ? (.revoked, Samples.now) : nil, keys: keys)
    }

    private func keys(_ generation: Int, isUsed: Bool = false) -> DeviceKeys {
        var keys = Samples.keys(generation: generation)
        if isUsed { keys.usedAt = Samples.now }
        return keys
    }

    @Test("a device is one peer with its addresses and its preshared key")
    func one() throws {
        let keys = keys(1)
        let plan = PeerPlan([try device("a", "10.0.0.2", [keys])])
        let peer = try #require(plan.peers.first)
        #expect(plan.peers.count == 1)
        #expect(peer.publicKey == keys.wireGuardPrivateKey?.publicKey)
        #expect(peer.allowedIPs.map(\.description) == ["10.0.0.2/32", "fd00::5/128"])
        let presharedKey = try #require(keys.wireGuardPresharedKey)
        #expect(peer.presharedKey?.isEqual(to: presharedKey) == true)
        #expect(peer.endpoint == nil)
        #expect(plan.unused[peer.publicKey]?.deviceID == "a" && plan.unused.count == 1)
    }

    @Test("of several generations the one in use has the addresses")
    func generations() throws {
        let list = [keys(2, isUsed: true), keys(3), keys(4)]
        let plan = PeerPlan([try device("a", "10.0.0.2", list)])
        #expect(plan.peers.map(\.allowedIPs.count) == [2, 0, 0])
        #expect(Set(plan.unused.values.map(\.generation)) == [3, 4])
        let fresh = PeerPlan([try device("a", "10.0.0.2", [keys(1), keys(2)])])
        #expect(fresh.peers.map(\.allowedIPs.count) == [2, 0])
    }

    @Test("a revoked device is no peer")
    func revoked() throws {
        let plan = PeerPlan([
            try device("a", "10.0.0.2", [], isRevoked: true), try device("b", "10.0.0.3", [keys(1)]),
        ])
        #expect(plan.peers.count == 1)
        #expect(plan.known.keys.map(\.deviceID) == ["b"])
    }
}
