// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

@Suite("Deadlines that data and keepalives move")
struct DataDeadlineTests {
    @Test("data that was sent restarts the interval of the persistent keepalive")
    func dataSentRestartsInterval() {
        let simulation = Simulation.session(seed: 1)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.run(until: seconds(20))
        first.setPeer(second.publicKey, at: simulation.now) { $0.persistentKeepalive = 5 }
        simulation.run(until: seconds(27))
        simulation.send(from: 0, to: 1)
        simulation.run(until: seconds(33))
        #expect(first.keepalives.map(\.time) == [seconds(20), seconds(25), seconds(32)])
    }

    @Test("a keepalive that came in restarts the interval of the persistent keepalive")
    func keepaliveReceivedRestartsInterval() {
        let simulation = Simulation.session(seed: 1)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        first.setPeer(second.publicKey, at: simulation.now) { $0.persistentKeepalive = 5 }
        simulation.run(until: seconds(8))
        second.setPeer(first.publicKey, at: simulation.now) { $0.persistentKeepalive = 65_535 }
        simulation.run(until: seconds(14))
        let received = seconds(8) + simulation.network.delay
        #expect(first.keepalives.map(\.time) == [seconds(1), seconds(6), received + .seconds(5)])
    }

    @Test("data that was sent takes the place of the keepalive that was due")
    func dataSentCancelsKeepalive() {
        let simulation = Simulation.session(seed: 1)
        let second = simulation.devices[1]
        simulation.run(until: seconds(20))
        second.clearRecords()
        simulation.send(from: 0, to: 1)
        simulation.run(until: seconds(25))
        simulation.send(from: 1, to: 0)
        simulation.run(until: seconds(34))
        #expect(second.transportData.count == 1 && second.keepalives.isEmpty)
    }

    @Test("a keepalive answers all data since the last packet that was sent, 10 s after the first of it")
    func keepaliveAfterFirstData() {
        let simulation = Simulation.session(seed: 1)
        let second = simulation.devices[1]
        simulation.run(until: seconds(20))
        second.clearRecords()
        for step in 0..<8 {
            simulation.schedule(at: seconds(20 + Double(step))) { $0.send(from: 0, to: 1) }
        }
        simulation.run(until: seconds(35))
        #expect(second.keepalives.map(\.time) == [seconds(30) + simulation.network.delay])
    }

    @Test("a peer that was given up gets no keepalive for data that came before", arguments: seeds)
    func noKeepaliveAfterGivingUp(seed: UInt64) throws {
        // The same run twice: the first one tells when the peer is given up.
        var givenUp = seconds(200)
        for repetition in 0..<2 {
            let simulation = Simulation.session(seed: seed)
            let (first, second) = (simulation.devices[0], simulation.devices[1])
            simulation.filter = { _, source in source.number == 1 }
            simulation.schedule(at: seconds(20)) { $0.send(from: 0, to: 1) }
            if repetition == 1 {
                let before = seconds(givenUp.inSeconds - 2)
                simulation.schedule(at: before) { $0.send(from: 1, to: 0, tag: 5) }
            }
            simulation.run(until: repetition == 0 ? givenUp : givenUp + .seconds(12))
            let event = first.events.first { $0.event == .handshakeGivenUp(second.publicKey) }
            let time = try #require(event, "seed \(seed)").time
            if repetition == 1 {
                #expect(time == givenUp && first.deliveredTags == [5], "seed \(seed)")
                #expect(first.transportData.map(\.time) == [seconds(20)], "seed \(seed)")
            }
            givenUp = time
        }
    }
}
