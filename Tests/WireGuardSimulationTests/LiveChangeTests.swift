// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

@Suite("Changes to a live device")
struct LiveChangeTests {
    @Test("keepalive, endpoint and allowed IPs change without touching session, counters or handshake time")
    func sessionSurvives() throws {
        let simulation = Simulation.session(seed: 21, keepsRecords: true)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        let before = try #require(first.peer(second.publicKey))
        let prefix = try IPPrefix("192.168.7.0/24")
        first.setPeer(second.publicKey, at: simulation.now) {
            $0.persistentKeepalive = 25
            $0.endpoint = second.address
            $0.allowedIPs = [.init(prefix)]
        }
        let after = try #require(first.peer(second.publicKey))
        #expect(after.latestHandshake == before.latestHandshake)
        #expect(after.receivedByteCount == before.receivedByteCount)
        #expect(after.allowedIPs.count == before.allowedIPs.count + 1)
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(for: .seconds(1))
        #expect(second.deliveredTags == [1, 2])
        #expect(first.initiations.count == 1)
    }

    @Test("a new preshared key leaves the session alone and is used by the next handshake")
    func newPresharedKey() {
        let simulation = Simulation.session(seed: 21, keepsRecords: true)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        let key = PresharedKey(SecretKey(randomFrom: SeededRandom(seed: 1)))
        first.setPeer(second.publicKey, at: simulation.now) { $0.presharedKey = key }
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(for: .seconds(1))
        #expect(second.deliveredTags == [1, 2])
        // The next handshake fails while only one side has the key.
        simulation.run(until: seconds(200))
        simulation.send(from: 0, to: 1, tag: 3)
        simulation.run(for: .seconds(2))
        #expect(second.deliveredTags == [1, 2])
        second.setPeer(first.publicKey, at: simulation.now) { $0.presharedKey = key }
        simulation.run(for: .seconds(6))
        #expect(second.deliveredTags == [1, 2, 3])
    }

    @Test("a peer with this device's own key is ignored, and becomes impossible when the key changes to it")
    func ownKey() throws {
        let simulation = Simulation.session(seed: 21, keepsRecords: true)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        first.setPeer(first.publicKey, at: simulation.now) { $0.persistentKeepalive = 1 }
        #expect(first.snapshot.peers.map(\.publicKey) == [second.publicKey])
        var change = ConfigurationChange()
        change.privateKey = .set(second.privateKey)
        first.apply(change, at: simulation.now)
        #expect(first.snapshot.peers.isEmpty)
        #expect(first.snapshot.privateKey?.publicKey == second.publicKey)
    }

    @Test("a new private key ends the sessions, and the same key again does not")
    func newPrivateKey() throws {
        let simulation = Simulation.session(seed: 21, keepsRecords: true)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        var same = ConfigurationChange()
        same.privateKey = .set(first.privateKey)
        first.apply(same, at: simulation.now)
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(for: .seconds(1))
        #expect(first.initiations.count == 1 && second.deliveredTags == [1, 2])

        var other = ConfigurationChange()
        let key = PrivateKey(SecretKey(randomFrom: SeededRandom(seed: 77)))
        other.privateKey = .set(key)
        first.apply(other, at: simulation.now)
        let inner = try #require(IPPrefix(address: Simulation.innerAddress(of: 0), length: 32))
        second.setPeer(key.publicKey, at: simulation.now) { $0.allowedIPs = [.init(inner)] }
        simulation.send(from: 0, to: 1, tag: 3)
        simulation.run(for: .seconds(1))
        #expect(first.initiations.count == 2 && second.deliveredTags == [1, 2, 3])
    }

    @Test("a preshared key of zeros is none")
    func zeroPresharedKey() throws {
        let key = PresharedKey(SecretKey(randomFrom: SeededRandom(seed: 1)))
        let simulation = Simulation.pair(seed: 24, presharedKey: key)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        #expect(first.peer(second.publicKey)?.presharedKey != nil)
        let zero = try PresharedKey(hexadecimal: String(repeating: "0", count: 64))
        for (own, other) in [(first, second), (second, first)] {
            own.setPeer(other.publicKey) { $0.presharedKey = zero }
            #expect(own.peer(other.publicKey)?.presharedKey == nil)
        }
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .seconds(1))
        #expect(second.deliveredTags == [1])
    }

    @Test("a cookie outlives a restart of the interface, and goes with the private key it was given to")
    func newPrivateKeyForgetsCookie() throws {
        for changesKey in [false, true] {
            let simulation = Simulation.pair(seed: 25, load: LoadDetector(rate: 1, capacity: 1))
            let (first, second) = (simulation.devices[0], simulation.devices[1])
            simulation.filter = { _, _ in false }
            simulation.send(from: 0, to: 1)
            let initiation = try #require(first.initiations.last).bytes
            for _ in 0..<2 { second.receive([(first.address, initiation)], at: simulation.now) }
            let reply = try #require(second.cookieReplies.last).bytes
            first.receive([(second.address, reply)], at: simulation.now)
            simulation.restart(first)
            if changesKey {
                var change = ConfigurationChange()
                change.privateKey = .set(PrivateKey(SecretKey(randomFrom: SeededRandom(seed: 2))))
                first.apply(change, at: simulation.now)
            }
            simulation.send(from: 0, to: 1)
            let next = try #require(first.initiations.last).bytes
            #expect(next != initiation)
            #expect(next[132...].allSatisfy { $0 == 0 } == changesKey)
        }
    }

    @Test("packets to a removed peer have no route, and a peer that comes after it inherits none")
    func removedRoutes() throws {
        let simulation = Simulation.session(seed: 21, keepsRecords: true)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        first.setPeer(second.publicKey, at: simulation.now) { $0.isRemoval = true }
        first.clearRecords()
        simulation.send(from: 0, to: 1)
        #expect(first.drops[.noRoute] == 1)
        let other = PrivateKey(SecretKey(randomFrom: SeededRandom(seed: 3))).publicKey
        first.setPeer(other, at: simulation.now) { $0.endpoint = second.address }
        #expect(first.peer(other)?.allowedIPs == [])
        simulation.send(from: 0, to: 1)
        #expect(first.drops[.noRoute] == 2)
        #expect(first.sent.isEmpty)
    }

    @Test("a removed peer is forgotten: its data is unknown and its initiations are refused")
    func removal() throws {
        let simulation = Simulation.session(seed: 21, keepsRecords: true)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        second.setPeer(first.publicKey, at: simulation.now) { $0.isRemoval = true }
        #expect(second.snapshot.peers.isEmpty && second.nextDeadline == nil)
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(for: .seconds(20))
        #expect(second.drops[.unknownReceiverIndex] >= 1)
        #expect(second.drops[.unknownPeer] >= 1)
        #expect(second.deliveredTags == [1])
    }

    @Test(
        "update_only does not create, replace_peers starts anew, and a prefix moves to the last peer that asks"
    )
    func changeSemantics() throws {
        let simulation = Simulation(seed: 22)
        let device = simulation.addDevice()
        let keys = try (1...3).map { number in
            try PublicKey(rawRepresentation: [UInt8](repeating: UInt8(number), count: 32))
        }
        let prefix = try IPPrefix("10.0.0.0/24")
        device.setPeer(keys[0]) { $0.isUpdateOnly = true }
        #expect(device.snapshot.peers.isEmpty)
        device.setPeer(keys[0]) { $0.allowedIPs = [.init(prefix)] }
        device.setPeer(keys[1]) { $0.allowedIPs = [.init(prefix)] }
        #expect(device.snapshot.peers.map(\.allowedIPs) == [[], [prefix]])
        device.setPeer(keys[0]) { $0.allowedIPs = [.init(prefix, isRemoval: true)] }
        #expect(device.snapshot.peers.map(\.allowedIPs) == [[], [prefix]])
        device.setPeer(keys[1]) { $0.allowedIPs = [.init(prefix, isRemoval: true)] }
        #expect(device.snapshot.peers.map(\.allowedIPs) == [[], []])
        var change = ConfigurationChange()
        change.replacesPeers = true
        change.peers = [PeerChange(publicKey: keys[2])]
        device.apply(change, at: simulation.now)
        #expect(device.snapshot.peers.map(\.publicKey) == [keys[2]])
    }

    @Test("24,000 peers come and go three times without growth of tables")
    func manyPeers() throws {
        let simulation = Simulation(seed: 23)
        let device = simulation.addDevice()
        let keys = try (0..<24_000).map { number in
            var bytes = [UInt8](repeating: 9, count: 32)
            bytes[0] = UInt8(truncatingIfNeeded: number)
            bytes[1] = UInt8(truncatingIfNeeded: number >> 8)
            return try PublicKey(rawRepresentation: bytes)
        }
        for _ in 0..<3 {
            var change = ConfigurationChange()
            change.peers = keys.enumerated().map { index, key in
                var peer = PeerChange(publicKey: key)
                peer.isUpdateOnly = false
                peer.allowedIPs =
                    IPPrefix(address: IPAddress(ipv4: 0x0A00_0000 + UInt32(index)), length: 32).map {
                        [.init($0)]
                    } ?? []
                return peer
            }
            device.apply(change, at: simulation.now)
            #expect(device.snapshot.peers.map(\.publicKey) == keys)
            change.peers = keys.map {
                var peer = PeerChange(publicKey: $0)
                peer.isRemoval = true
                return peer
            }
            device.apply(change, at: simulation.now)
            #expect(device.snapshot.peers.isEmpty)
        }
    }
}
