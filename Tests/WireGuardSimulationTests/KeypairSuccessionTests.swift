// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardSimulation

@testable internal import WireGuardProtocol

@Suite("One keypair after the other")
struct KeypairSuccessionTests {
    /// A pair whose first device renewed its keypair at 121 s, at 130 s, with the datagrams of three packets
    /// with tags from 10 that left on the keypair before and are still on their way.
    private func renewed() -> (simulation: Simulation, late: [[UInt8]]) {
        let simulation = Simulation.pair(seed: 81)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(until: seconds(119))
        simulation.filter = { _, _ in false }
        first.clearRecords()
        for tag in 10..<13 as Range<UInt64> { simulation.send(from: 0, to: 1, tag: tag) }
        let late = first.transportData.map(\.bytes)
        simulation.filter = nil
        simulation.run(until: seconds(121))
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(until: seconds(130))
        for device in [first, second] { device.clearRecords() }
        return (simulation, late)
    }

    @Test("packets of two keypairs by turns in one batch have windows of their own")
    func twoKeypairsInOneBatch() {
        let (simulation, late) = renewed()
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { _, _ in false }
        for tag in 20..<23 as Range<UInt64> { simulation.send(from: 0, to: 1, tag: tag) }
        let present = first.transportData.map(\.bytes)
        // The counters are the same, so that one window for both would refuse half of them.
        #expect(late.map { Array($0[8..<16]) } == present.map { Array($0[8..<16]) })
        #expect(late.map { Array($0[4..<8]) } != present.map { Array($0[4..<8]) })
        let turns = zip(late, present).flatMap { [$0, $1] }
        second.receive(turns.map { (first.address, $0) }, at: simulation.now)
        #expect(second.deliveredTags == [10, 20, 11, 21, 12, 22])
        second.receive(turns.map { (first.address, $0) }, at: simulation.now)
        #expect(second.drops[.replayedCounter] == 6)
    }

    @Test("an accepted initiation ends the previous keypair")
    func initiationEndsPreviousKeypair() {
        let (simulation, late) = renewed()
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        second.receive([(first.address, late[0])], at: simulation.now)
        #expect(second.deliveredTags == [10])
        simulation.filter = { datagram, _ in datagram.bytes[0] != 4 }
        simulation.restart(first)
        simulation.send(from: 0, to: 1)
        simulation.run(for: .seconds(1))
        #expect(second.responses.count == 1)
        second.receive([(first.address, late[1])], at: simulation.now)
        #expect(second.drops[.unknownReceiverIndex] == 1)
        #expect(second.deliveredTags == [10])
    }

    @Test("an initiation between packets of the keypair that it ends lets only those before it pass")
    func initiationWithinBatch() throws {
        let (simulation, late) = renewed()
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { _, _ in false }
        simulation.restart(first)
        simulation.send(from: 0, to: 1)
        let initiation = try #require(first.initiations.last).bytes
        let batch = [late[0], initiation, late[1], late[2]]
        second.receive(batch.map { (first.address, $0) }, at: simulation.now)
        #expect(second.responses.count == 1)
        #expect(second.deliveredTags == [10])
        #expect(second.drops[.expiredKeypair] == 2)
    }

    @Test("a new handshake leaves no keypair that is 180 s old, on neither side")
    func expiredKeypairsGo() {
        let simulation = Simulation.pair(seed: 82)
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(until: seconds(200))
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(for: .seconds(1))
        #expect(simulation.devices[1].deliveredTags == [1, 2])
        for simulated in simulation.devices {
            var count = 0
            simulated.withDevice(at: simulation.now) { device, _ in
                let number = device.peers.numbers[0]
                if device.peers[number].keypairs.previous != nil { count += 1 }
                if device.peers[number].keypairs.current != nil { count += 1 }
                if device.peers[number].keypairs.next != nil { count += 1 }
                #expect(device.indices.count == count)
            }
            #expect(count == 1, "device \(simulated.number)")
        }
    }

    @Test("a packet leaves on a keypair until it is 180 s old, and not at that instant")
    func instantOfExpiry() {
        for (early, expected) in [(1, 1), (0, 0)] as [(Int64, Int)] {
            let simulation = Simulation.pair(seed: 83)
            let first = simulation.devices[0]
            simulation.send(from: 0, to: 1, tag: 1)
            // The initiator derives its keys when the response comes, after two ways.
            let created = simulation.now + simulation.network.delay * 2
            simulation.run(until: created)
            #expect(first.transportData.count == 1)
            let end = created + .seconds(180)
            simulation.run(until: Instant(nanoseconds: end.nanoseconds - early))
            first.clearRecords()
            simulation.send(from: 0, to: 1, tag: 2)
            #expect(first.transportData.count == expected)
            #expect(first.initiations.count == 1)
        }
    }

    @Test("a response that comes after its handshake was given up completes nothing")
    func responseAfterGivingUp() throws {
        let simulation = Simulation.pair(seed: 84)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { _, source in source.number == 0 }
        simulation.send(from: 0, to: 1)
        simulation.run(until: seconds(100))
        #expect(first.events.contains { $0.event == .handshakeGivenUp(second.publicKey) })
        #expect(first.initiations.count == second.responses.count)
        let response = try #require(second.responses.last).bytes
        first.receive([(second.address, response)], at: simulation.now)
        #expect(first.drops[.unknownReceiverIndex] == 1)
        #expect(first.transportData.isEmpty)
    }
}
