// SPDX-License-Identifier: MIT

import Testing
import WireGuardConfiguration
import WireGuardCrypto
import WireGuardProtocol

@Suite("Change from one configuration to another")
struct ConfigurationChangeTests {
    private let a = PrivateKey().publicKey
    private let b = PrivateKey().publicKey
    private let own = PrivateKey()

    private func tunnel(_ peers: [PeerConfiguration]) -> TunnelConfiguration {
        TunnelConfiguration(privateKey: own, listenPort: 1, firewallMark: 2, peers: peers)
    }

    private func change(
        _ old: [PeerConfiguration], _ new: [PeerConfiguration], _ endpoints: [Endpoint: SocketAddress] = [:]
    ) -> ConfigurationChange {
        .difference(from: tunnel(old), to: tunnel(new), endpoints: endpoints)
    }

    @Test("the same configuration changes nothing")
    func same() throws {
        let peer = PeerConfiguration(
            publicKey: a, presharedKey: PresharedKey(), allowedIPs: [try IPPrefix("10.0.0.0/8")],
            endpoint: try Endpoint("192.0.2.1:1"), persistentKeepalive: 25)
        let change = change([peer], [peer])
        #expect(change.privateKey == nil && change.listenPort == nil && change.firewallMark == nil)
        #expect(!change.replacesPeers && change.peers.isEmpty)
    }

    @Test("fields of the device change one by one")
    func device() {
        let old = tunnel([])
        let new = TunnelConfiguration(privateKey: PrivateKey(), listenPort: 3, firewallMark: 0)
        let change = ConfigurationChange.difference(from: old, to: new, endpoints: [:])
        guard case .set(let key) = change.privateKey else {
            Issue.record("the private key is not set")
            return
        }
        #expect(key.isEqual(to: new.privateKey))
        #expect(change.listenPort == 3 && change.firewallMark == 0)
    }

    @Test("a changed keepalive, endpoint or list touches nothing else of the peer")
    func oneField() throws {
        let endpoint = try Endpoint("192.0.2.1:1")
        let address = SocketAddress(address: try IPAddress("192.0.2.1"), port: 1)
        let old = PeerConfiguration(publicKey: a, presharedKey: PresharedKey())

        var new = old
        new.persistentKeepalive = 5
        var peer = try #require(change([old], [new]).peers.first)
        #expect(peer.persistentKeepalive == 5 && peer.presharedKey == nil && peer.endpoint == nil)
        #expect(!peer.replacesAllowedIPs && !peer.isRemoval && peer.isUpdateOnly)

        new = old
        new.endpoint = endpoint
        peer = try #require(change([old], [new], [endpoint: address]).peers.first)
        #expect(peer.endpoint == address && peer.persistentKeepalive == nil && peer.presharedKey == nil)
        #expect(change([old], [new]).peers.isEmpty)

        new = old
        let prefix = try IPPrefix("10.0.0.0/8")
        new.allowedIPs = [prefix]
        peer = try #require(change([old], [new]).peers.first)
        #expect(peer.replacesAllowedIPs && peer.allowedIPs.map(\.prefix) == [prefix])
        #expect(peer.endpoint == nil && peer.persistentKeepalive == nil && peer.presharedKey == nil)
    }

    @Test("a preshared key taken away is one of zeros, and a new one is given")
    func presharedKey() throws {
        let key = PresharedKey()
        let with = PeerConfiguration(publicKey: a, presharedKey: key)
        let without = PeerConfiguration(publicKey: a)
        #expect(change([with], [without]).peers.first?.presharedKey?.isZero == true)
        #expect(change([without], [with]).peers.first?.presharedKey?.isEqual(to: key) == true)
        #expect(change([without], [without]).peers.isEmpty)
    }

    @Test("peers that go are removed, and peers that come are made whole")
    func comeAndGo() throws {
        let change = change(
            [PeerConfiguration(publicKey: a)], [PeerConfiguration(publicKey: b, persistentKeepalive: 7)])
        #expect(change.peers.map(\.publicKey) == [a, b])
        #expect(change.peers.map(\.isRemoval) == [true, false])
        #expect(change.peers[1].presharedKey?.isZero == true && change.peers[1].persistentKeepalive == 7)
        #expect(!change.peers[1].isUpdateOnly && change.peers[1].replacesAllowedIPs)
    }

    @Test("a prefix that its last owner gives up goes back to the peer that has it too")
    func sharedPrefix() throws {
        let prefix = try IPPrefix("10.0.0.0/8")
        let first = PeerConfiguration(publicKey: a, allowedIPs: [prefix])
        let change = change(
            [first, PeerConfiguration(publicKey: b, allowedIPs: [prefix])],
            [first, PeerConfiguration(publicKey: b)])
        #expect(change.peers.map(\.publicKey) == [a, b])
        #expect(change.peers.map { $0.allowedIPs.map(\.prefix) } == [[prefix], []])
    }

    @Test(
        "applied to a model, the difference gives the new configuration",
        arguments: (1...40).map { UInt64($0) })
    func model(seed: UInt64) throws {
        var generator = Samples.Generator(seed: seed)
        let keys = try (0..<6).map { _ in try PublicKey(rawRepresentation: generator.bytes(32)) }
        let prefixes = (0..<8).map { _ in generator.prefix() }
        func peers() -> [PeerConfiguration] {
            keys.shuffled(using: &generator).prefix(4).map { key in
                PeerConfiguration(
                    publicKey: key, allowedIPs: Array(prefixes.shuffled(using: &generator).prefix(3)),
                    persistentKeepalive: UInt16.random(in: 0...2, using: &generator))
            }
        }
        var device = NaiveDevice()
        var current = tunnel(peers())
        device.apply(.replacement(by: current, endpoints: [:]))
        for _ in 0..<20 {
            let next = tunnel(peers())
            device.apply(.difference(from: current, to: next, endpoints: [:]))
            var expected = NaiveDevice()
            expected.apply(.replacement(by: next, endpoints: [:]))
            #expect(device == expected, "seed \(seed)")
            current = next
        }
    }

    /// What a device keeps of a configuration, in the plainest form.
    private struct NaiveDevice: Equatable {
        var keepalives: [PublicKey: UInt16] = [:]
        var owners: [IPPrefix: PublicKey] = [:]

        mutating func apply(_ change: ConfigurationChange) {
            if change.replacesPeers { self = NaiveDevice() }
            for peer in change.peers {
                let key = peer.publicKey
                if peer.isRemoval || peer.replacesAllowedIPs { owners = owners.filter { $0.value != key } }
                if peer.isRemoval {
                    keepalives[key] = nil
                    continue
                }
                if peer.isUpdateOnly, keepalives[key] == nil { continue }
                keepalives[key] = peer.persistentKeepalive ?? keepalives[key] ?? 0
                for line in peer.allowedIPs { owners[line.prefix] = key }
            }
        }
    }
}
