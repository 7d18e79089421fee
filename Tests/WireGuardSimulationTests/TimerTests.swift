// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

@Suite("Timers in virtual time")
struct TimerTests {
    @Test("one packet and a silent receiver: one keepalive after 10 s, then nothing for 100 s")
    func passiveKeepalive() throws {
        let simulation = Simulation.session(seed: 1, keepsRecords: true)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.run(until: seconds(200))
        #expect(second.keepalives.count == 1)
        let arrival = try #require(second.delivered.first).time.inSeconds
        let answer = try #require(second.keepalives.first).time.inSeconds
        #expect(abs(answer - arrival - 10) < 0.001)
        #expect(first.keepalives.isEmpty)
        #expect(first.initiations.count == 1 && second.initiations.isEmpty)
    }

    @Test("an empty packet is never answered")
    func keepalivesAreNotAnswered() {
        let simulation = Simulation.session(seed: 1, keepsRecords: true)
        for device in simulation.devices { device.clearRecords() }
        simulation.devices[0].setPeer(simulation.devices[1].publicKey, at: simulation.now) {
            $0.persistentKeepalive = 25
        }
        simulation.run(for: .seconds(60))
        #expect(simulation.devices[0].keepalives.count == 3)
        // Only the answer to the packet of the start.
        #expect(simulation.devices[1].keepalives.count == 1)
    }

    @Test(
        "a new handshake is due 15 s after the first unanswered data packet, not the last", arguments: seeds)
    func newHandshakeAfterSilence(seed: UInt64) {
        let simulation = Simulation.session(seed: seed, keepsRecords: true)
        let first = simulation.devices[0]
        simulation.run(until: seconds(20))
        first.clearRecords()
        simulation.filter = { _, source in source.number == 0 ? false : true }
        for step in 0..<40 {
            simulation.schedule(at: seconds(20 + Double(step) / 2)) { $0.send(from: 0, to: 1) }
        }
        simulation.run(until: seconds(40))
        let time = first.initiations.first?.time.inSeconds ?? 0
        #expect((35.0...35.334).contains(time), "seed \(seed): at \(time) s")
    }

    @Test("only the initiator renews the keypair, when it sends after 120 s or receives after 165 s")
    func rekeyByAge() {
        for (sender, time, expected) in [
            (0, 119.0, 0), (0, 121, 1), (0, 164, 1), (0, 179, 1), (0, 181, 1),
            (1, 119, 0), (1, 121, 0), (1, 164, 0), (1, 166, 1), (1, 179, 1),
        ] {
            let simulation = Simulation.session(seed: 1, keepsRecords: true)
            let first = simulation.devices[0]
            simulation.run(until: seconds(time))
            for device in simulation.devices { device.clearRecords() }
            simulation.send(from: sender, to: 1 - sender, tag: 9)
            simulation.run(for: .seconds(2))
            #expect(first.initiations.count == expected, "sender \(sender) at \(time) s")
            #expect(simulation.devices[1].initiations.isEmpty, "sender \(sender) at \(time) s")
            #expect(simulation.devices[1 - sender].deliveredTags == [9], "sender \(sender) at \(time) s")
        }
    }

    @Test("nothing leaves on a keypair older than 180 s; the responder then starts itself")
    func rejectAfterTime() {
        let simulation = Simulation.session(seed: 1, keepsRecords: true)
        let second = simulation.devices[1]
        simulation.run(until: seconds(181))
        for device in simulation.devices { device.clearRecords() }
        simulation.send(from: 1, to: 0, tag: 5)
        #expect(second.transportData.isEmpty)
        #expect(second.initiations.count == 1)
        simulation.run(for: .seconds(1))
        #expect(simulation.devices[0].deliveredTags == [5])
    }

    @Test("a packet that is on its way when its keypair turns 180 s old is dropped as expired")
    func arrivalAfterExpiry() {
        let simulation = Simulation.session(seed: 1, keepsRecords: true)
        simulation.network.delay = .seconds(2)
        simulation.run(until: seconds(179.5))
        simulation.devices[1].clearRecords()
        simulation.send(from: 0, to: 1, tag: 5)
        simulation.run(until: seconds(182))
        #expect(simulation.devices[1].delivered.isEmpty)
        #expect(simulation.devices[1].drops[.expiredKeypair] == 1)
    }

    @Test("after 30 idle minutes one packet costs one handshake and arrives")
    func afterIdleTime() {
        let simulation = Simulation.session(seed: 1, keepsRecords: true)
        simulation.run(until: seconds(1800))
        for device in simulation.devices { device.clearRecords() }
        simulation.send(from: 0, to: 1, tag: 3)
        simulation.run(for: .seconds(60))
        #expect(simulation.devices[1].deliveredTags == [3])
        #expect(simulation.devices[0].initiations.count + simulation.devices[1].initiations.count == 1)
    }

    @Test("keys are erased 540 s after the last handshake, and no deadline is left")
    func keysAreErased() {
        let simulation = Simulation.session(seed: 1, keepsRecords: true)
        simulation.run(until: seconds(539))
        #expect(simulation.devices.allSatisfy { $0.nextDeadline != nil })
        simulation.run(until: seconds(541))
        #expect(simulation.devices.allSatisfy { $0.nextDeadline == nil })
        // Data for the erased keypair has no receiver any more.
        let old = simulation.devices[0].transportData[0]
        simulation.inject(old.bytes, from: simulation.devices[0].address, to: simulation.devices[1])
        simulation.run(for: .seconds(1))
        #expect(simulation.devices[1].drops[.unknownReceiverIndex] == 1)
    }

    @Test("a persistent keepalive starts at once and leaves only when nothing else went either way")
    func persistentKeepalive() {
        let simulation = Simulation.pair(seed: 2)
        let first = simulation.devices[0]
        first.setPeer(simulation.devices[1].publicKey) { $0.persistentKeepalive = 25 }
        simulation.run(for: .milliseconds(1))
        #expect(first.initiations.count == 1)
        simulation.run(until: seconds(110))
        // One confirms the handshake at 20 ms, the others follow every 25 s.
        #expect(first.keepalives.map { Int($0.time.inSeconds) } == [0, 25, 50, 75, 100])
        first.clearRecords()
        for step in 0..<10 {
            simulation.schedule(at: seconds(111 + Double(step) * 8)) { $0.send(from: 1, to: 0) }
        }
        simulation.run(until: seconds(183))
        // Each packet is answered by a passive keepalive or not at all; the persistent one never fires.
        #expect(first.keepalives.count <= 8)
        first.setPeer(simulation.devices[1].publicKey, at: simulation.now) { $0.persistentKeepalive = 0 }
        simulation.run(for: .seconds(20))
        first.clearRecords()
        simulation.run(for: .seconds(300))
        #expect(first.keepalives.isEmpty)
    }

    @Test("a session with a persistent keepalive outlives a day of suspend")
    func suspendOfADay() {
        let simulation = Simulation.pair(seed: 2)
        simulation.devices[0].setPeer(simulation.devices[1].publicKey) { $0.persistentKeepalive = 25 }
        simulation.run(for: .seconds(10))
        simulation.filter = { _, _ in false }
        simulation.run(for: .seconds(86_400))
        simulation.filter = nil
        simulation.send(from: 0, to: 1, tag: 4)
        simulation.run(for: .seconds(6))
        #expect(simulation.devices[1].deliveredTags.last == 4)
    }

    @Test("an interface that goes down forgets its keys and keeps quiet; up again, the peer is reached")
    func downAndUp() {
        let simulation = Simulation.session(seed: 1, keepsRecords: true)
        let first = simulation.devices[0]
        first.withDevice(at: simulation.now) { device, outbox in
            device.setUp(false, at: simulation.now, into: &outbox)
        }
        first.clearRecords()
        #expect(first.nextDeadline == nil)
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(for: .seconds(30))
        #expect(first.sent.isEmpty)
        #expect(first.drops[.notReady] == 1)
        first.withDevice(at: simulation.now) { device, outbox in
            device.setUp(true, at: simulation.now, into: &outbox)
        }
        simulation.send(from: 0, to: 1, tag: 3)
        simulation.run(for: .seconds(1))
        #expect(simulation.devices[1].deliveredTags == [1, 3])
    }
}
