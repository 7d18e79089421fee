// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

@Suite("Deadlines that handshake messages move")
struct HandshakeDeadlineTests {
    @Test(
        "each attempt restarts the persistent keepalive, which asks again 25 s after the last one",
        arguments: seeds)
    func initiationRestartsPersistentKeepalive(seed: UInt64) throws {
        let simulation = Simulation.pair(seed: seed)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { _, _ in false }
        first.setPeer(second.publicKey) { $0.persistentKeepalive = 25 }
        simulation.run(until: seconds(130))
        let givenUp = try #require(
            first.events.first { $0.event == .handshakeGivenUp(second.publicKey) }, "seed \(seed)"
        ).time
        #expect((90.0...95.4).contains(givenUp.inSeconds), "seed \(seed)")
        let last = try #require(first.initiations.last { $0.time < givenUp }, "seed \(seed)").time
        let next = try #require(first.initiations.first { $0.time > givenUp }, "seed \(seed)").time
        #expect(next == last + .seconds(25), "seed \(seed)")
    }

    @Test("a received initiation and its response restart the responder's persistent keepalive")
    func responseRestartsPersistentKeepalive() {
        let simulation = Simulation.session(seed: 1)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        second.setPeer(first.publicKey, at: simulation.now) { $0.persistentKeepalive = 25 }
        #expect(second.keepalives.map(\.time) == [seconds(1)])
        // One initiation passes; after that the first device cannot be heard.
        simulation.filter = { datagram, source in
            source.number == 1 || datagram.bytes[0] == 1 && datagram.time < seconds(21)
        }
        simulation.run(until: seconds(20))
        simulation.restart(first)
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(until: seconds(46))
        let received = seconds(20) + simulation.network.delay
        #expect(second.responses.map(\.time) == [received])
        #expect(second.keepalives.map(\.time) == [seconds(1), received + .seconds(25)])
    }

    @Test("an initiation that was sent takes the place of the keepalive that was due")
    func initiationCancelsKeepalive() {
        let simulation = Simulation.session(seed: 1)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.run(until: seconds(160))
        for device in simulation.devices { device.clearRecords() }
        simulation.filter = { _, source in source.number == 1 }
        simulation.send(from: 1, to: 0, tag: 2)
        simulation.run(until: seconds(166))
        // An empty packet on a keypair of 166 s asks for a new one, before the answer to the data is due.
        second.setPeer(first.publicKey, at: simulation.now) { $0.persistentKeepalive = 25 }
        simulation.run(until: seconds(174))
        #expect(first.deliveredTags == [2])
        #expect(first.initiations.first?.time == seconds(166) + simulation.network.delay)
        #expect(first.transportData.isEmpty)
    }

    @Test("a response answers the data before it: no keepalive on one side, no new handshake on the other")
    func responseAnswersData() {
        let simulation = Simulation.session(seed: 1)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.run(until: seconds(121))
        for device in simulation.devices { device.clearRecords() }
        // The packet renews the keypair and arrives before the initiation.
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(until: seconds(160))
        #expect(second.deliveredTags == [2])
        #expect(second.responses.count == 1 && second.transportData.isEmpty)
        #expect(first.initiations.count == 1)
    }

    @Test("an initiation answers data that was sent before: no own handshake 15 s after it")
    func initiationAnswersData() {
        let simulation = Simulation.session(seed: 1)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { datagram, source in source.number == 1 || datagram.bytes[0] == 1 }
        simulation.run(until: seconds(10))
        simulation.send(from: 1, to: 0, tag: 2)
        simulation.run(until: seconds(15))
        simulation.restart(first)
        simulation.send(from: 0, to: 1, tag: 3)
        simulation.run(until: seconds(29))
        #expect(first.deliveredTags == [2])
        #expect(second.responses.count == 1)
        #expect(second.initiations.isEmpty)
    }

    @Test(
        "receiving on a keypair of 165 s asks for a new one once, and leaves later attempts to the retries",
        arguments: seeds)
    func asksOnce(seed: UInt64) throws {
        let simulation = Simulation.session(seed: seed)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.run(until: seconds(160))
        for device in simulation.devices { device.clearRecords() }
        simulation.filter = { datagram, source in source.number == 1 && datagram.bytes[0] == 4 }
        // Empty packets arrive at 160 s, 163 s and so on to 178 s.
        second.setPeer(first.publicKey, at: simulation.now) { $0.persistentKeepalive = 3 }
        simulation.run(until: seconds(275))
        let asked = try #require(first.initiations.first, "seed \(seed)").time
        #expect(asked == seconds(166) + simulation.network.delay, "seed \(seed)")
        for (earlier, later) in zip(first.initiations, first.initiations.dropFirst()) {
            let gap = later.time.inSeconds - earlier.time.inSeconds
            #expect((4.999...5.335).contains(gap), "seed \(seed): \(gap) s")
        }
        // Asking again would have begun the 90 s anew.
        let givenUp = try #require(
            first.events.first { $0.event == .handshakeGivenUp(second.publicKey) }, "seed \(seed)"
        ).time
        #expect((90.0...95.335).contains(givenUp.inSeconds - asked.inSeconds), "seed \(seed)")
    }

    @Test("a late packet on the previous keypair of 165 s is delivered and asks for nothing")
    func previousKeypairDoesNotAsk() throws {
        let simulation = Simulation.session(seed: 1)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.run(until: seconds(120))
        simulation.filter = { _, _ in false }
        simulation.send(from: 1, to: 0, tag: 7)
        let late = try #require(second.transportData.last).bytes
        simulation.filter = nil
        simulation.run(until: seconds(121))
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(until: seconds(166))
        #expect(first.initiations.count == 1)
        first.clearRecords()
        first.receive([(second.address, late)], at: simulation.now)
        #expect(first.deliveredTags == [7])
        #expect(first.initiations.isEmpty)
    }
}
