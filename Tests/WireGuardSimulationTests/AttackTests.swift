// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

@Suite("Hostile network")
struct AttackTests {
    /// A place on the network that belongs to nobody.
    private let elsewhere = SocketAddress(address: IPAddress(ipv4: 0xCB00_7109), port: 999)

    @Test("forged, unknown and replayed data moves no endpoint and gets no answer; the next good packet does")
    func endpointIsNotMovedByForgery() throws {
        let simulation = Simulation.session(seed: 1)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(for: .milliseconds(100))
        let good = try #require(first.transportData.last).bytes
        let home = first.address
        var unknownIndex = good
        unknownIndex[4] ^= 1
        var badTag = good
        badTag[badTag.count - 1] ^= 1
        second.clearRecords()
        for datagram in [unknownIndex, badTag, good, Array(good.dropLast()), good + [0]] {
            simulation.inject(datagram, from: elsewhere, to: second)
            simulation.run(for: .milliseconds(100))
            #expect(second.peer(first.publicKey)?.endpoint == home)
        }
        #expect(second.sent.isEmpty && second.delivered.isEmpty)
        #expect(second.drops[.unknownReceiverIndex] == 1)
        #expect(second.drops[.authenticationFailed] == 3)
        #expect(second.drops[.replayedCounter] == 1)

        first.address = elsewhere
        simulation.send(from: 0, to: 1, tag: 3)
        simulation.run(for: .milliseconds(100))
        #expect(second.deliveredTags == [3])
        #expect(second.peer(first.publicKey)?.endpoint == elsewhere)
        simulation.send(from: 1, to: 0, tag: 4)
        simulation.run(for: .milliseconds(100))
        #expect(first.deliveredTags == [4])
    }

    @Test("garbage of every size and type is dropped, counted and never answered", arguments: seeds)
    func garbage(seed: UInt64) {
        let simulation = Simulation.session(seed: seed)
        let second = simulation.devices[1]
        let before = second.drops.total
        var injected: UInt64 = 0
        for byteCount in 0..<300 {
            for type in 0..<6 as Range<UInt8> {
                var bytes = (0..<byteCount).map { _ in UInt8(truncatingIfNeeded: simulation.random.next()) }
                if byteCount >= 4 { bytes.replaceSubrange(0..<4, with: [type, 0, 0, 0]) }
                second.receive([(elsewhere, bytes)], at: simulation.now)
                injected += 1
            }
        }
        #expect(second.drops.total - before == injected, "seed \(seed)")
        #expect(second.sent.isEmpty && second.delivered.isEmpty, "seed \(seed)")
        simulation.send(from: 0, to: 1, tag: 9)
        simulation.run(for: .seconds(1))
        #expect(second.deliveredTags == [9], "seed \(seed)")
    }

    @Test("each bit flipped in a handshake is refused, and the true response still completes it")
    func tamperedResponse() throws {
        let simulation = Simulation.pair(seed: 11)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { _, source in source.number == 0 }
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .milliseconds(100))
        let response = try #require(second.responses.first).bytes
        for bit in stride(from: 0, to: 60 * 8, by: 1) {
            var tampered = response
            tampered[bit / 8] ^= 1 << UInt8(bit % 8)
            first.receive([(second.address, tampered)], at: simulation.now)
        }
        #expect(first.transportData.isEmpty)
        first.receive([(second.address, response)], at: simulation.now)
        #expect(first.transportData.count == 1)
    }

    @Test("a replayed initiation is counted and answered with nothing; the session lives on")
    func replayedInitiation() throws {
        let simulation = Simulation.pair(seed: 12)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .seconds(1))
        let initiation = try #require(first.initiations.first).bytes
        second.clearRecords()
        for _ in 0..<10 {
            simulation.inject(initiation, from: elsewhere, to: second)
            simulation.run(for: .seconds(1))
        }
        #expect(second.drops[.replayedTimestamp] == 10)
        #expect(second.responses.isEmpty)
        #expect(second.peer(first.publicKey)?.endpoint == first.address)
        simulation.send(from: 1, to: 0, tag: 2)
        simulation.run(for: .milliseconds(100))
        #expect(first.deliveredTags.last == 2)
    }

    @Test("under load a message must prove its address and port, and a cookie reply moves no endpoint")
    func cookies() throws {
        let simulation = Simulation.pair(seed: 13, load: LoadDetector(rate: 1, capacity: 1))
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        // One message more than the detector allows puts the responder under load.
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .milliseconds(100))
        let used = try #require(first.initiations.first).bytes
        for _ in 0..<3 { second.receive([(elsewhere, used)], at: simulation.now) }
        #expect(second.events.contains { $0.event == .loadChanged(isUnderLoad: true) })
        first.clearRecords()
        second.clearRecords()

        // A new handshake while the load lasts: its first message has no mac2.
        let home = second.address
        first.withDevice(at: simulation.now) { device, outbox in
            device.setUp(false, at: simulation.now, into: &outbox)
            device.setUp(true, at: simulation.now, into: &outbox)
        }
        simulation.filter = { _, _ in false }
        simulation.send(from: 0, to: 1, tag: 2)
        let initiation = try #require(first.initiations.first).bytes
        #expect(initiation[132...] == ArraySlice([UInt8](repeating: 0, count: 16)))
        for _ in 0..<3 { second.receive([(elsewhere, used)], at: simulation.now) }
        second.clearRecords()
        second.receive([(first.address, initiation)], at: simulation.now)
        #expect(second.responses.isEmpty)
        let reply = try #require(second.cookieReplies.first).bytes
        first.receive([(elsewhere, reply)], at: simulation.now)
        #expect(first.peer(second.publicKey)?.endpoint == home)

        // The retry carries mac2: refused from another port, answered from its own.
        simulation.run(for: .milliseconds(5400))
        let retry = try #require(first.initiations.last).bytes
        #expect(retry[132...] != ArraySlice([UInt8](repeating: 0, count: 16)))
        for _ in 0..<3 { second.receive([(elsewhere, used)], at: simulation.now) }
        second.clearRecords()
        let otherPort = SocketAddress(address: first.address.address, port: first.address.port + 1)
        second.receive([(otherPort, retry)], at: simulation.now)
        #expect(second.cookieReplies.count == 1 && second.responses.isEmpty)
        second.receive([(first.address, retry)], at: simulation.now)
        #expect(second.responses.count == 1)
    }

    @Test("a peer may not send from a narrower prefix that belongs to another peer")
    func spoofedSource() throws {
        let simulation = Simulation(seed: 14)
        let hub = simulation.addDevice()
        let (wide, narrow) = (simulation.addDevice(), simulation.addDevice())
        for (device, prefix) in [(wide, "10.0.0.0/8"), (narrow, "10.1.0.0/16")] {
            let allowed = try IPPrefix(prefix)
            hub.setPeer(device.publicKey) { $0.allowedIPs = [.init(allowed)] }
            let all = try IPPrefix("0.0.0.0/0")
            device.setPeer(hub.publicKey) {
                $0.endpoint = hub.address
                $0.allowedIPs = [.init(all)]
            }
        }
        let spoofed = InnerPacket.make(
            from: try IPAddress("10.1.2.3"), to: try IPAddress("10.200.0.1"), tag: 1)
        let foreign = InnerPacket.make(
            from: try IPAddress("192.168.0.1"), to: try IPAddress("10.200.0.1"), tag: 2)
        wide.send([spoofed, foreign], at: simulation.now)
        simulation.run(for: .seconds(1))
        #expect(hub.delivered.isEmpty)
        #expect(hub.drops[.disallowedSource] == 2)
        narrow.send([spoofed], at: simulation.now)
        simulation.run(for: .seconds(1))
        #expect(hub.deliveredTags == [1])
    }

    @Test("a peer key of low order gets no initiation and is told once")
    func lowOrderPeer() throws {
        let simulation = Simulation(seed: 15)
        let device = simulation.addDevice()
        let one: [UInt8] = [1] + [UInt8](repeating: 0, count: 31)
        for bytes in [[UInt8](repeating: 0, count: 32), one] {
            let key = try PublicKey(rawRepresentation: bytes)
            let prefix = try IPPrefix("0.0.0.0/0")
            device.setPeer(key) {
                $0.endpoint = elsewhere
                $0.allowedIPs = [.init(prefix)]
            }
            for _ in 0..<5 {
                device.send(
                    [
                        InnerPacket.make(
                            from: Simulation.innerAddress(of: 0), to: Simulation.innerAddress(of: 1))
                    ],
                    at: simulation.now)
                simulation.run(for: .seconds(10))
            }
            #expect(device.events.filter { $0.event == .weakPeerKey(key) }.count == 1)
        }
        #expect(device.sent.isEmpty)
    }

    @Test("an initiation that spoofs another source does not take the endpoint before it is authenticated")
    func endpointFollowsAuthenticatedHandshake() {
        let simulation = Simulation.pair(seed: 16)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .seconds(1))
        simulation.run(for: .seconds(200))
        first.address = elsewhere
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(for: .seconds(1))
        #expect(second.peer(first.publicKey)?.endpoint == elsewhere)
        #expect(second.deliveredTags == [1, 2])
    }

    @Test("a congestion mark of the outer path reaches the inner packet, or drops one that cannot carry it")
    func congestion() throws {
        let simulation = Simulation.session(seed: 1)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        for (inner, expected) in [(UInt8(0), nil), (1, 3), (2, 3), (3, 3)] as [(UInt8, UInt8?)] {
            let packet = InnerPacket.make(
                from: Simulation.innerAddress(of: 0), to: Simulation.innerAddress(of: 1), congestion: inner)
            first.send([packet], at: simulation.now)
            let datagram = try #require(first.takePending().last).bytes
            second.clearRecords()
            second.receive([(first.address, datagram)], congestion: 3, at: simulation.now)
            #expect(second.delivered.first.map { $0.packet[1] & 3 } == expected)
        }
        #expect(second.drops[.congestionNotCapable] == 1)
    }
}
