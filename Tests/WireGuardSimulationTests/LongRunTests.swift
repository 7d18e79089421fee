// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

@Suite("Long runs")
struct LongRunTests {
    /// The state of a long run that its callbacks share.
    private final class Run {
        var lastDelivery: [Instant] = [Instant(nanoseconds: 0), Instant(nanoseconds: 0)]
        var longestStall: [Int64] = [0, 0]
        var deliveredCount = 0
        var seenTags: Set<UInt64> = []
        var repeatedTags = 0
        var countersSeen: Set<CounterUse> = []
        var repeatedCounters = 0
        var handshakes = 0
        var keypairBirth: [UInt32: Instant] = [:]
        var lateSends = 0

        struct CounterUse: Hashable {
            let source: Int
            let receiverIndex: UInt32
            let counter: UInt64
        }
    }

    @Test("a day with 5 % loss, reordering and duplicates never stalls longer than one retry period")
    func day() {
        let simulation = Simulation.pair(seed: 31)
        simulation.network.lossPerMille = 50
        simulation.network.duplicationPerMille = 20
        simulation.network.jitter = .milliseconds(80)
        let run = Run()
        for device in simulation.devices {
            device.keepsRecords = false
            // The number and not the device, which would own itself through the closure.
            let number = device.number
            device.onDelivery = { time, packet in
                let gap = (time - run.lastDelivery[number]).nanoseconds
                run.longestStall[number] = max(run.longestStall[number], gap)
                run.lastDelivery[number] = time
                run.deliveredCount += 1
                if !run.seenTags.insert(InnerPacket.tag(of: packet)).inserted { run.repeatedTags += 1 }
            }
            device.onSend = { datagram in
                if datagram.bytes[0] == 1 { run.handshakes += 1 }
                guard datagram.bytes[0] == 4 else { return }
                let index = datagram.bytes[4..<8].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                let counter = datagram.bytes[8..<16].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                let use = Run.CounterUse(source: number, receiverIndex: index, counter: counter)
                if !run.countersSeen.insert(use).inserted { run.repeatedCounters += 1 }
                // The first use of an index is at most one round trip after the keys were derived.
                let birth = run.keypairBirth[index] ?? datagram.time
                run.keypairBirth[index] = birth
                if (datagram.time - birth).nanoseconds >= ProtocolConstants.rejectAfterTime.nanoseconds {
                    run.lateSends += 1
                }
            }
        }
        let interval: Int64 = 500
        let count = 86_400_000 / interval
        for step in 0..<count {
            simulation.schedule(at: Instant(nanoseconds: step * interval * 1_000_000)) { simulation in
                simulation.send(from: 0, to: 1, byteCount: 64, tag: UInt64(2 * step))
                simulation.send(from: 1, to: 0, byteCount: 64, tag: UInt64(2 * step + 1))
            }
        }
        simulation.run(for: .seconds(86_400))
        let stall = Double(run.longestStall.max() ?? 0) / 1e9
        print(
            "24 h virtual: \(2 * count) packets sent, \(run.deliveredCount) delivered, \(run.handshakes) initiations, "
                + "longest stall \(stall) s")
        #expect(stall <= 5.334 + 0.5 + 0.2, "a stall of \(stall) s")
        #expect(run.repeatedCounters == 0, "a counter was used twice")
        #expect(run.repeatedTags == 0, "a packet was delivered twice")
        #expect(run.lateSends == 0, "a packet left after Reject-After-Time")
        #expect(run.deliveredCount > Int(2 * count) * 93 / 100)
        // One handshake in 120 s and its retries, not one more.
        #expect((700...1700).contains(run.handshakes))
    }

    @Test("waking only at deadlines gives the same trace as waking each millisecond", arguments: seeds)
    func deadlinesAreExact(seed: UInt64) {
        func trace(wakesOften: Bool) -> [String] {
            let simulation = Simulation.pair(seed: seed)
            simulation.devices[0].setPeer(simulation.devices[1].publicKey) { $0.persistentKeepalive = 7 }
            let chance = SeededRandom(seed: seed &+ 1)
            for _ in 0..<40 {
                let time = Int64(chance.next() % 200_000) * 1_000_000
                let source = Int(chance.next() % 2)
                simulation.schedule(at: Instant(nanoseconds: time)) { $0.send(from: source, to: 1 - source) }
            }
            if wakesOften {
                for millisecond in 0..<240_000 as Range<Int64> {
                    simulation.run(until: Instant(nanoseconds: millisecond * 1_000_000))
                    for device in simulation.devices { device.expireTimers(at: simulation.now) }
                }
            } else {
                simulation.run(until: seconds(239.999))
            }
            return simulation.devices.flatMap { device in
                device.sent.map { "\(device.number) \($0.time.nanoseconds) \($0.bytes[0]) \($0.bytes.count)" }
            }
        }
        let sparse = trace(wakesOften: false)
        #expect(sparse.count > 20, "seed \(seed)")
        #expect(sparse == trace(wakesOften: true), "seed \(seed)")
    }

    @Test(
        "five devices in a mesh with loss, NAT rebinds and clocks set back keep talking",
        arguments: seeds.prefix(2))
    func mesh(seed: UInt64) throws {
        let simulation = Simulation(seed: seed)
        simulation.network.lossPerMille = 30
        simulation.network.jitter = .milliseconds(30)
        for number in 0..<5 { simulation.addDevice(isIPv6: number % 2 == 1) }
        for own in simulation.devices {
            for other in simulation.devices where other !== own {
                let prefix = try #require(
                    IPPrefix(address: Simulation.innerAddress(of: other.number), length: 32))
                own.setPeer(other.publicKey) {
                    $0.endpoint = other.address
                    $0.allowedIPs = [.init(prefix)]
                }
            }
        }
        var delivered = Array(repeating: 0, count: 5)
        for device in simulation.devices {
            device.keepsRecords = false
            device.onDelivery = { [number = device.number] _, _ in delivered[number] += 1 }
        }
        let hours: Int64 = 2
        for step in 0..<(hours * 3600) {
            simulation.schedule(at: Instant(nanoseconds: step * 1_000_000_000)) { simulation in
                let source = Int(step) % 5
                for destination in 0..<5 where destination != source {
                    simulation.send(from: source, to: destination)
                }
                if step % 600 == 599 {
                    let device = simulation.devices[Int(step / 600) % 5]
                    device.address = SocketAddress(
                        address: device.address.address, port: device.address.port + 1)
                    device.wallClock.shift(by: .seconds(step % 1200 < 600 ? -3600 : 3000))
                }
            }
        }
        simulation.run(for: .seconds(hours * 3600))
        let expected = Int(hours) * 3600 * 4 / 5
        for (number, count) in delivered.enumerated() {
            #expect(count > expected * 9 / 10, "seed \(seed): device \(number) got \(count) of \(expected)")
        }
    }
}
