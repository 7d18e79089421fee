// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardSimulation

@testable internal import WireGuardProtocol

@Suite("Nothing waits for ever")
struct LivenessTests {
    /// The number of bytes that wait for handshakes.
    private func stagedByteCount(_ device: SimulatedDevice, at now: Instant) -> Int {
        var count = 0
        device.withDevice(at: now) { device, _ in count = device.stagedByteCount }
        return count
    }

    @Test("a response that was sent only postpones the next attempt of an own handshake", arguments: seeds)
    func responsePostponesRetry(seed: UInt64) throws {
        let simulation = Simulation.pair(seed: seed)
        let first = simulation.devices[0]
        // Only the initiation of the second device arrives; then it is silent.
        simulation.filter = { datagram, source in
            source.number == 1 && datagram.bytes.first == 1 && datagram.time < seconds(4)
        }
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.schedule(at: seconds(3)) { $0.send(from: 1, to: 0, tag: 2) }
        simulation.run(until: seconds(10))
        #expect(first.responses.count == 1, "seed \(seed)")
        let second = try #require(first.initiations.dropFirst().first, "seed \(seed)").time.inSeconds
        #expect((8.01...8.35).contains(second), "seed \(seed): at \(second) s")
        simulation.run(until: seconds(110))
        #expect(first.events.contains { $0.event == .handshakeGivenUp(simulation.devices[1].publicKey) })
        #expect(stagedByteCount(first, at: simulation.now) == 0, "seed \(seed)")
    }

    @Test("a packet that comes right after a response to a silent peer starts a handshake in time")
    func packetAfterResponse() throws {
        let simulation = Simulation.pair(seed: 31)
        let second = simulation.devices[1]
        simulation.filter = { datagram, source in source.number == 0 && datagram.time < seconds(1) }
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.schedule(at: seconds(2)) { $0.send(from: 1, to: 0, tag: 2) }
        simulation.run(until: seconds(6))
        let time = try #require(second.initiations.first).time.inSeconds
        #expect((5.01...5.35).contains(time))
    }

    @Test("a persistent keepalive that is set before there is an endpoint starts when there is one")
    func keepaliveBeforeEndpoint() throws {
        let simulation = Simulation(seed: 32)
        let (first, second) = (simulation.addDevice(), simulation.addDevice())
        first.setPeer(second.publicKey) { $0.persistentKeepalive = 25 }
        simulation.run(until: seconds(30))
        #expect(first.sent.isEmpty)
        first.setPeer(second.publicKey, at: simulation.now) { $0.endpoint = second.address }
        simulation.run(until: seconds(51))
        #expect(first.initiations.first?.time == seconds(50))
    }

    @Test("a device that is down has no deadline, whatever is set, and starts when it comes up")
    func changesWhileDown() {
        let simulation = Simulation.pair(seed: 33)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        first.withDevice(at: simulation.now) { device, outbox in
            device.setUp(false, at: simulation.now, into: &outbox)
        }
        for interval in [10, 20, 0, 25] as [UInt16] {
            first.setPeer(second.publicKey, at: simulation.now) { $0.persistentKeepalive = interval }
            #expect(first.nextDeadline == nil)
        }
        simulation.run(until: seconds(100))
        #expect(first.sent.isEmpty)
        first.withDevice(at: simulation.now) { device, outbox in
            device.setUp(true, at: simulation.now, into: &outbox)
        }
        #expect(first.initiations.count == 1)
    }

    @Test("packets to a peer whose key is of low order are dropped and counted at once")
    func packetsToWeakPeer() throws {
        let simulation = Simulation(seed: 34)
        let device = simulation.addDevice()
        let key = try PublicKey(rawRepresentation: [UInt8](repeating: 0, count: 32))
        let prefix = try IPPrefix("0.0.0.0/0")
        device.setPeer(key) {
            $0.endpoint = device.address
            $0.allowedIPs = [.init(prefix)]
        }
        let packet = InnerPacket.make(
            from: Simulation.innerAddress(of: 0), to: Simulation.innerAddress(of: 1))
        device.send([packet, packet], at: simulation.now)
        #expect(device.drops[.handshakeGivenUp] == 2)
        #expect(stagedByteCount(device, at: simulation.now) == 0)
    }

    @Test("initiations alone, of a peer whom no response reaches, do not keep an old session's keys")
    func oldKeysAreErased() {
        let simulation = Simulation.pair(seed: 36)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .seconds(1))
        simulation.filter = { datagram, source in source.number == 0 && datagram.bytes.first == 1 }
        first.setPeer(second.publicKey, at: simulation.now) { $0.persistentKeepalive = 25 }
        simulation.run(until: seconds(1_000))
        var ages: [Interval] = []
        second.withDevice(at: simulation.now) { device, _ in
            for number in device.peers.numbers {
                if let current = device.peers[number].keypairs.current {
                    ages.append(simulation.now - current.pointee.created)
                }
            }
        }
        #expect(ages.isEmpty)
        #expect(second.responses.count > 100)
    }

    @Test("without a private key no packet is kept")
    func packetsWithoutKey() {
        let simulation = Simulation.pair(seed: 35)
        let first = simulation.devices[0]
        simulation.filter = { _, _ in false }
        simulation.send(from: 0, to: 1, tag: 1)
        #expect(stagedByteCount(first, at: simulation.now) == 100)
        var change = ConfigurationChange()
        change.privateKey = .clear
        first.apply(change, at: simulation.now)
        #expect(stagedByteCount(first, at: simulation.now) == 0)
    }
}
