// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

@Suite("What a handshake message counts for")
struct HandshakeAccountingTests {
    private let elsewhere = SocketAddress(address: IPAddress(ipv4: 0xCB00_7109), port: 999)

    @Test("initiation, response and the keepalive that confirms count with their whole size on both sides")
    func byteCounts() throws {
        let simulation = Simulation.pair(seed: 71)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        first.setPeer(second.publicKey) { $0.persistentKeepalive = 25 }
        simulation.run(for: .seconds(1))
        let initiator = try #require(first.peer(second.publicKey))
        let responder = try #require(second.peer(first.publicKey))
        #expect(initiator.sentByteCount == 148 + 32)
        #expect(initiator.receivedByteCount == 92)
        #expect(responder.sentByteCount == 92)
        #expect(responder.receivedByteCount == 148 + 32)
    }

    @Test("data counts with header, padding and tag; what is dropped after authentication does not count")
    func dataByteCounts() throws {
        let simulation = Simulation.pair(seed: 72)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1, byteCount: 100)
        simulation.run(for: .seconds(1))
        #expect(try #require(first.peer(second.publicKey)).sentByteCount == 148 + 112 + 32)
        #expect(try #require(second.peer(first.publicKey)).receivedByteCount == 148 + 112 + 32)
        let foreign = InnerPacket.make(
            from: try IPAddress("192.168.0.1"), to: Simulation.innerAddress(of: 1), byteCount: 100)
        first.send([foreign], at: simulation.now)
        simulation.run(for: .seconds(1))
        #expect(second.drops[.disallowedSource] == 1)
        #expect(try #require(second.peer(first.publicKey)).receivedByteCount == 148 + 112 + 32)
    }

    @Test("the endpoint follows an accepted initiation before any data comes")
    func endpointFollowsInitiation() {
        let simulation = Simulation.pair(seed: 73)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        first.address = elsewhere
        simulation.filter = { datagram, _ in datagram.bytes[0] == 1 }
        simulation.send(from: 0, to: 1)
        simulation.run(for: .milliseconds(100))
        #expect(second.peer(first.publicKey)?.endpoint == elsewhere)
        #expect(second.responses.last?.destination == elsewhere)
    }

    @Test("the endpoint follows the response to where it came from")
    func endpointFollowsResponse() throws {
        let simulation = Simulation.pair(seed: 74)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { _, source in source.number == 0 }
        simulation.send(from: 0, to: 1)
        simulation.run(for: .milliseconds(100))
        let response = try #require(second.responses.first).bytes
        first.receive([(elsewhere, response)], at: simulation.now)
        #expect(first.peer(second.publicKey)?.endpoint == elsewhere)
        #expect(first.transportData.last?.destination == elsewhere)
    }

    @Test("a keypair asks once for its successor by receiving, and the successor asks again")
    func rekeyOnReceiveOnce() {
        let simulation = Simulation.pair(seed: 75)
        let first = simulation.devices[0]
        simulation.send(from: 0, to: 1)
        simulation.run(until: seconds(166))
        first.clearRecords()
        // The initiations are lost: the packets that follow do not ask anew, only the retries go on.
        simulation.filter = { datagram, _ in datagram.bytes[0] != 1 }
        for step in 0..<20 {
            simulation.schedule(at: seconds(166 + Double(step) / 2)) { $0.send(from: 1, to: 0) }
        }
        simulation.run(until: seconds(177))
        let started = first.events.filter { $0.event == .handshakeStarted(simulation.devices[1].publicKey) }
        #expect(started.count == 1)
        // Only the first device's retry gets through, so that it is the initiator of the successor too.
        simulation.filter = { datagram, source in !(datagram.bytes[0] == 1 && source.number == 1) }
        simulation.run(until: seconds(190))
        let completed = first.peer(simulation.devices[1].publicKey)?.latestHandshake.seconds ?? 0
        let age = Double(completed - 1_800_000_000)
        #expect((177...190).contains(age))
        first.clearRecords()
        simulation.devices[1].clearRecords()
        simulation.run(until: seconds(age + 167))
        simulation.send(from: 1, to: 0)
        simulation.run(for: .seconds(1))
        #expect(first.initiations.count == 1)
        #expect(simulation.devices[1].initiations.isEmpty)
    }

    @Test("a cookie reply to a response is taken, and the next handshake message carries mac2")
    func cookieReplyToResponse() throws {
        let simulation = Simulation.pair(seed: 76, load: LoadDetector(rate: 1, capacity: 1))
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { _, _ in false }
        simulation.send(from: 0, to: 1)
        let initiation = try #require(first.initiations.last).bytes
        second.receive([(first.address, initiation)], at: simulation.now)
        let response = try #require(second.responses.last).bytes
        // The first completes the handshake; the others are more than the detector allows.
        for _ in 0..<4 { first.receive([(elsewhere, response)], at: simulation.now) }
        guard let reply = first.cookieReplies.last?.bytes else {
            Issue.record("the initiator never came under load")
            return
        }
        second.receive([(first.address, reply)], at: simulation.now)
        #expect(second.drops[.invalidCookieReply] == 0 && second.drops[.unknownReceiverIndex] == 0)
        // The next message of the responder to this peer: an initiation of its own.
        simulation.run(for: .seconds(6))
        second.clearRecords()
        simulation.send(from: 1, to: 0)
        let next = try #require(second.initiations.last).bytes
        #expect(next[132...] != ArraySlice([UInt8](repeating: 0, count: 16)))
    }

    @Test("a handshake message restarts the interval of the persistent keepalive")
    func persistentIntervalRestarts() throws {
        let simulation = Simulation.pair(seed: 77)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        second.setPeer(first.publicKey) { $0.persistentKeepalive = 25 }
        simulation.run(until: seconds(20))
        // The peer starts a handshake at 20 s; its messages count as traffic, and its data does not exist.
        first.withDevice(at: simulation.now) { device, outbox in
            device.setUp(false, at: simulation.now, into: &outbox)
            device.setUp(true, at: simulation.now, into: &outbox)
        }
        second.clearRecords()
        first.setPeer(second.publicKey, at: simulation.now) { $0.persistentKeepalive = 200 }
        simulation.run(until: seconds(44.9))
        #expect(second.keepalives.isEmpty)
        simulation.run(until: seconds(46))
        #expect(second.keepalives.count == 1)
    }
}
