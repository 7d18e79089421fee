// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

@Suite("Handshake between two devices")
struct HandshakeTests {
    @Test(
        "the first packet starts a handshake, waits for it, and arrives; the answer needs no other",
        arguments: seeds)
    func firstPacket(seed: UInt64) {
        let simulation = Simulation.pair(seed: seed)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1, tag: 7)
        simulation.run(for: .seconds(1))
        #expect(second.deliveredTags == [7], "seed \(seed)")
        simulation.send(from: 1, to: 0, tag: 8)
        simulation.run(for: .seconds(1))
        #expect(first.deliveredTags == [8], "seed \(seed)")
        #expect(first.initiations.count == 1)
        #expect(second.initiations.isEmpty)
        #expect(second.responses.count == 1)
        #expect(first.drops.total == 0 && second.drops.total == 0)
    }

    @Test("IPv6 packets and both sizes of keepalive and data pass")
    func innerIPv6() {
        let simulation = Simulation.pair(seed: 1)
        simulation.send(from: 0, to: 1, byteCount: 1420, tag: 1, isIPv6: true)
        simulation.send(from: 0, to: 1, byteCount: 48, tag: 2, isIPv6: true)
        simulation.run(for: .seconds(1))
        #expect(simulation.devices[1].deliveredTags == [1, 2])
        #expect(simulation.devices[1].delivered.map(\.packet.count) == [1420, 48])
    }

    @Test("a preshared key on both sides works; on one side only, nothing is delivered")
    func presharedKeys() {
        let key = PresharedKey(SecretKey(randomFrom: SeededRandom(seed: 5)))
        let both = Simulation.pair(seed: 1, presharedKey: key)
        both.send(from: 0, to: 1, tag: 1)
        both.run(for: .seconds(1))
        #expect(both.devices[1].deliveredTags == [1])

        let one = Simulation.pair(seed: 1)
        one.devices[0].setPeer(one.devices[1].publicKey) { $0.presharedKey = key }
        one.send(from: 0, to: 1, tag: 1)
        one.run(for: .seconds(30))
        #expect(one.devices[1].delivered.isEmpty)
        #expect(one.devices[0].drops[.invalidHandshake] > 0)
    }

    @Test("both sides start at once: both packets arrive within a second and nobody starts again")
    func simultaneousStart() {
        var network = NetworkConditions()
        network.delay = .milliseconds(100)
        let simulation = Simulation.pair(seed: 3, network: network)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.send(from: 1, to: 0, tag: 2)
        simulation.run(for: .seconds(1))
        #expect(first.deliveredTags == [2])
        #expect(second.deliveredTags == [1])
        let before = first.initiations.count + second.initiations.count
        for step in 1...59 {
            simulation.schedule(at: seconds(Double(step))) {
                $0.send(from: 0, to: 1, tag: 1000 + UInt64(step))
            }
            simulation.schedule(at: seconds(Double(step))) {
                $0.send(from: 1, to: 0, tag: 2000 + UInt64(step))
            }
        }
        simulation.run(for: .seconds(60))
        #expect(first.initiations.count + second.initiations.count <= before + 1)
        #expect(first.delivered.count == 60 && second.delivered.count == 60)
    }

    @Test("a slow path completes its handshake", arguments: [50, 300, 1500, 4900] as [Int64])
    func slowPath(roundTripMilliseconds: Int64) {
        var network = NetworkConditions()
        network.delay = .milliseconds(roundTripMilliseconds / 2)
        let simulation = Simulation.pair(seed: 4, network: network)
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .seconds(9))
        #expect(simulation.devices[1].deliveredTags == [1])
        #expect(simulation.devices[0].initiations.count == 1)
    }

    @Test(
        "a silent peer is tried every 5 s plus 0 to 333 ms for 90 s, and new data starts again at once",
        arguments: seeds)
    func retries(seed: UInt64) {
        let simulation = Simulation.pair(seed: seed)
        let first = simulation.devices[0]
        simulation.filter = { _, source in source.number == 0 ? false : true }
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .seconds(300))
        let times = first.initiations.map(\.time.inSeconds)
        for (earlier, later) in zip(times, times.dropFirst()) {
            #expect((5.0...5.334).contains(later - earlier), "seed \(seed): \(earlier) then \(later)")
        }
        let last = times.last
        #expect((last ?? 0) < 90 && (last ?? 0) > 80, "seed \(seed): the last try was at \(last ?? 0) s")
        #expect(first.events.contains { $0.event == .handshakeGivenUp(simulation.devices[1].publicKey) })
        #expect(first.drops[.handshakeGivenUp] == 1)

        simulation.filter = nil
        simulation.send(from: 0, to: 1, tag: 2)
        #expect(first.initiations.last?.time == simulation.now)
        simulation.run(for: .seconds(1))
        #expect(simulation.devices[1].deliveredTags == [2])
    }

    @Test("at most 128 packets wait for a handshake; the oldest go first and are counted")
    func stagedPackets() {
        let simulation = Simulation.pair(seed: 6)
        for tag in 0..<200 as Range<UInt64> { simulation.send(from: 0, to: 1, tag: tag) }
        simulation.run(for: .seconds(1))
        #expect(simulation.devices[1].deliveredTags == Array(72..<200))
        #expect(simulation.devices[0].drops[.stagedQueueFull] == 72)
    }

    @Test("the handshake time shown is wall time, and zero before the first")
    func handshakeTime() {
        let simulation = Simulation.pair(seed: 7)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        #expect(first.peer(second.publicKey)?.latestHandshake == WallTime(seconds: 0, nanoseconds: 0))
        simulation.send(from: 0, to: 1)
        simulation.run(for: .seconds(1))
        for device in simulation.devices {
            let other = device === first ? second : first
            #expect(device.peer(other.publicKey)?.latestHandshake.seconds == 1_800_000_000)
        }
    }

    @Test("an initiator whose clock went back two days still gets its handshake")
    func clockWentBack() {
        let simulation = Simulation.pair(seed: 8)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .seconds(1))
        first.wallClock.shift(by: .seconds(-2 * 86_400))
        simulation.run(for: .seconds(600))
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(for: .seconds(1))
        #expect(second.deliveredTags == [1, 2])
    }

    @Test(
        "a restarted initiator with its clock back needs the stored floor; without it, it is taken for a replay"
    )
    func restartWithClockBack() {
        for keepsFloor in [true, false] {
            let simulation = Simulation.pair(seed: 9)
            let (first, second) = (simulation.devices[0], simulation.devices[1])
            simulation.send(from: 0, to: 1, tag: 1)
            simulation.run(for: .seconds(1))

            let restarted = simulation.addDevice(privateKey: first.privateKey)
            restarted.wallClock.shift(by: .seconds(-2 * 86_400))
            if keepsFloor { restarted.timestampFloor = first.timestampFloor }
            restarted.setPeer(second.publicKey, at: simulation.now) { peer in
                peer.endpoint = second.address
                peer.allowedIPs =
                    IPPrefix(address: Simulation.innerAddress(of: 1), length: 32).map { [.init($0)] } ?? []
            }
            let packet = InnerPacket.make(
                from: Simulation.innerAddress(of: 0), to: Simulation.innerAddress(of: 1), tag: 2)
            restarted.send([packet], at: simulation.now)
            simulation.run(for: .seconds(20))
            #expect(second.deliveredTags == (keepsFloor ? [1, 2] : [1]))
            #expect((second.drops[.replayedTimestamp] > 0) == !keepsFloor)
            let told = second.events.filter { $0.event == .clockBehind(first.publicKey) }
            #expect(told.count == (keepsFloor ? 0 : 1), "told once, not for each retry")
        }
    }
}
