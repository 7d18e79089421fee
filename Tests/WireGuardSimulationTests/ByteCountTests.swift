// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

@Suite("Bytes sent and received")
struct ByteCountTests {
    /// A place on the network that belongs to nobody.
    private let elsewhere = SocketAddress(address: IPAddress(ipv4: 0xCB00_7109), port: 999)

    @Test("each attempt counts as sent; a replayed or damaged handshake message does not count as received")
    func attemptsAndRefusals() throws {
        let simulation = Simulation.pair(seed: 62)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { _, _ in false }
        simulation.send(from: 0, to: 1)
        // Attempts at 0 s, at 5 s and at 10 s, the later ones with up to 0.67 s of jitter.
        simulation.run(until: seconds(12))
        #expect(try #require(first.peer(second.publicKey)).sentByteCount == 3 * 148)
        let initiation = try #require(first.initiations.last).bytes
        var damaged = initiation
        damaged[50] ^= 1
        for bytes in [damaged, initiation, initiation] {
            second.receive([(first.address, bytes)], at: simulation.now)
        }
        #expect(second.peer(first.publicKey)?.receivedByteCount == 148)
        #expect(second.peer(first.publicKey)?.sentByteCount == 92)
    }

    @Test("a cookie reply to a response is taken, counts for nothing, and the next response has its mac2")
    func cookieReplyToResponse() throws {
        let simulation = Simulation.pair(seed: 65, load: LoadDetector(rate: 1, capacity: 1))
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .seconds(10))
        let used = try #require(second.responses.first).bytes
        simulation.filter = { _, _ in false }
        simulation.restart(first)
        simulation.send(from: 0, to: 1, tag: 2)
        second.receive([(first.address, try #require(first.initiations.last).bytes)], at: simulation.now)
        let response = try #require(second.responses.last).bytes
        #expect(response != used)
        let noMAC = [UInt8](repeating: 0, count: 16)
        #expect(Array(response[76...]) == noMAC)

        // The second message with a valid mac1 within a second puts the initiator under load.
        for _ in 0..<2 { first.receive([(elsewhere, used)], at: simulation.now) }
        let before = (first.peer(second.publicKey), second.peer(first.publicKey))
        first.clearRecords()
        first.receive([(second.address, response)], at: simulation.now)
        let reply = try #require(first.cookieReplies.first)
        #expect(first.sent.count == 1 && reply.destination == second.address)
        #expect(Array(reply.bytes[4..<8]) == Array(response[4..<8]))
        let drops = second.drops.total
        second.receive([(elsewhere, reply.bytes)], at: simulation.now)
        #expect(second.drops.total == drops)
        #expect(second.peer(first.publicKey)?.endpoint == first.address)
        #expect(first.peer(second.publicKey)?.sentByteCount == before.0?.sentByteCount)
        #expect(first.peer(second.publicKey)?.receivedByteCount == before.0?.receivedByteCount)
        #expect(second.peer(first.publicKey)?.receivedByteCount == before.1?.receivedByteCount)

        // The next attempt: its response proves its address and completes the handshake under load.
        simulation.run(for: .milliseconds(5400))
        second.receive([(first.address, try #require(first.initiations.last).bytes)], at: simulation.now)
        let proven = try #require(second.responses.last).bytes
        #expect(Array(proven[76...]) != noMAC)
        for _ in 0..<2 { first.receive([(elsewhere, used)], at: simulation.now) }
        first.clearRecords()
        first.receive([(second.address, proven)], at: simulation.now)
        #expect(first.cookieReplies.isEmpty && first.transportData.count == 1)
    }

    @Test("of data only what is delivered, and keepalives, count as received, by the size of the datagram")
    func receivedBytes() throws {
        let simulation = Simulation.pair(seed: 66)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1)
        simulation.run(for: .seconds(1))
        let before = try #require(second.peer(first.publicKey)).receivedByteCount
        // Initiation, and 100 bytes padded to 112 with header and tag.
        #expect(before == 148 + 112 + 32)
        first.send(
            [InnerPacket.make(from: Simulation.innerAddress(of: 7), to: Simulation.innerAddress(of: 1))],
            at: simulation.now)
        simulation.run(for: .seconds(1))
        #expect(second.drops[.disallowedSource] == 1)
        second.receive([(first.address, malformedDatagram(from: first, in: simulation))], at: simulation.now)
        #expect(second.drops[.malformedInnerPacket] == 1)
        let copy = try #require(first.transportData.first).bytes
        second.receive([(first.address, copy)], at: simulation.now)
        #expect(second.drops[.replayedCounter] == 1)
        #expect(second.peer(first.publicKey)?.receivedByteCount == before)

        simulation.send(from: 0, to: 1, byteCount: 48)
        first.setPeer(second.publicKey, at: simulation.now) { $0.persistentKeepalive = 25 }
        simulation.run(for: .seconds(1))
        #expect(second.peer(first.publicKey)?.receivedByteCount == before + (48 + 32) + 32)
    }

    /// A datagram on a device's session that holds a packet of no IP version.
    private func malformedDatagram(from device: SimulatedDevice, in simulation: Simulation) -> [UInt8] {
        var batch = PacketBatch(slotCapacity: 1, byteCapacity: 2048)
        let inner = InnerPacket.make(from: Simulation.innerAddress(of: 0), to: Simulation.innerAddress(of: 1))
        guard let data = batch.append(byteCount: inner.count) else { return [] }
        inner.withUnsafeBytes {
            data.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(data), byteCount: inner.count)
        }
        device.withDevice(at: simulation.now) { device, outbox in
            device.planOutbound(&batch, at: simulation.now, into: &outbox)
            // Overwritten before it is sealed, as a faulty peer would send it.
            data.storeBytes(of: 0x05, as: UInt8.self)
            batch.seal()
            device.commitOutbound(&batch, at: simulation.now, into: &outbox)
        }
        return Array(batch.sealedDatagram(0))
    }
}
