// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

@Suite("Packets in batches")
struct BatchTests {
    /// Three devices: the first and the second have sessions with the third, which they started.
    private struct World {
        let simulation: Simulation
        var hub: SimulatedDevice { simulation.devices[2] }

        init(seed: UInt64) {
            simulation = Simulation(seed: seed)
            for _ in 0..<3 { simulation.addDevice() }
            let devices = simulation.devices
            for number in 0..<2 {
                devices[2].setPeer(devices[number].publicKey) { peer in
                    peer.endpoint = devices[number].address
                    peer.allowedIPs = Self.hosts(of: number)
                }
                devices[number].setPeer(devices[2].publicKey) { peer in
                    peer.endpoint = devices[2].address
                    peer.allowedIPs = Self.hosts(of: 2)
                }
                simulation.send(from: number, to: 2)
            }
            simulation.run(for: .seconds(1))
        }

        private static func hosts(of number: Int) -> [PeerChange.AllowedIP] {
            [false, true].compactMap { isIPv6 in
                let address = Simulation.innerAddress(of: number, isIPv6: isIPv6)
                return IPPrefix(address: address, length: address.bitCount).map { .init($0) }
            }
        }
    }

    /// What can be seen of a device after a batch.
    private struct Trace: Equatable {
        var packets: [[UInt8]]
        var datagrams: [[UInt8]]
        var destinations: [SocketAddress]
        var events: [DeviceEvent]
        var drops: DropCounters
        var endpoints: [SocketAddress?]
        var byteCounts: [UInt64]
        var nextDeadline: Instant?

        init(_ device: SimulatedDevice) {
            packets = device.delivered.map(\.packet)
            datagrams = device.sent.map(\.bytes)
            destinations = device.sent.map(\.destination)
            events = device.events.map(\.event)
            drops = device.drops
            endpoints = device.snapshot.peers.map(\.endpoint)
            byteCounts = device.snapshot.peers.flatMap { [$0.receivedByteCount, $0.sentByteCount] }
            nextDeadline = device.nextDeadline
        }
    }

    /// Datagrams of both peers to the third device: data, keepalives, handshake messages, repetitions, damage.
    private func datagrams(
        in world: World, seed: UInt64, at now: Instant
    ) -> [(source: SocketAddress, bytes: [UInt8])] {
        let random = SeededRandom(seed: seed)
        let elsewhere = SocketAddress(address: IPAddress(ipv4: 0xCB00_7109), port: 4_242)
        var result: [(source: SocketAddress, bytes: [UInt8])] = []
        for number in 0..<2 {
            let device = world.simulation.devices[number]
            let packets = (0..<20).map { tag in
                let isIPv6 = random.next(below: 3) == 0
                // Now and then an address of the other peer.
                let source = random.next(below: 6) == 0 ? 1 - number : number
                return InnerPacket.make(
                    from: Simulation.innerAddress(of: source, isIPv6: isIPv6),
                    to: Simulation.innerAddress(of: 2, isIPv6: isIPv6),
                    byteCount: 60 + Int(random.next(below: 400)), tag: UInt64(tag))
            }
            device.send(packets, at: now)
            device.setPeer(world.hub.publicKey, at: now) { $0.persistentKeepalive = 25 }
            for sent in device.takePending() {
                let source = random.next(below: 5) == 0 ? elsewhere : device.address
                result.append((source, sent.bytes))
                if random.next(below: 6) == 0 { result.append((device.address, sent.bytes)) }
                if random.next(below: 8) == 0 {
                    var bytes = sent.bytes
                    bytes[Int(random.next(below: UInt64(bytes.count)))] ^= 1
                    result.append((elsewhere, bytes))
                }
            }
        }
        // Stretches of neighbours stay together and change places.
        var generator = random
        var stretches: [[(source: SocketAddress, bytes: [UInt8])]] = []
        while !result.isEmpty {
            let count = min(result.count, 1 + Int(random.next(below: 6)))
            stretches.append(Array(result.prefix(count)))
            result.removeFirst(count)
        }
        stretches.shuffle(using: &generator)
        return stretches.flatMap { $0 }
    }

    // At 130 s the initiators ask for new keypairs, so that an initiation of each is among the datagrams.
    @Test(
        "a batch of datagrams has the effect of its datagrams one by one", arguments: seeds, [2.0, 130.0])
    func inbound(seed: UInt64, time: Double) {
        let worlds = [World(seed: seed), World(seed: seed)]
        let batch = datagrams(in: worlds[0], seed: seed, at: seconds(time))
        let singles = datagrams(in: worlds[1], seed: seed, at: seconds(time))
        #expect(batch.map(\.bytes) == singles.map(\.bytes), "seed \(seed)")
        worlds[0].hub.receive(batch, at: seconds(time))
        for datagram in singles { worlds[1].hub.receive([datagram], at: seconds(time)) }
        let trace = Trace(worlds[0].hub)
        #expect(trace == Trace(worlds[1].hub), "seed \(seed)")
        #expect(trace.packets.count > 20, "seed \(seed)")
        #expect(trace.drops[.replayedCounter] > 0, "seed \(seed)")
        #expect(trace.drops[.disallowedSource] > 0, "seed \(seed)")
        #expect(worlds[0].hub.responses.count == (time > 120 ? 4 : 2), "seed \(seed)")
    }

    @Test(
        "a batch of inner packets has the effect of its packets one by one", arguments: seeds, [2.0, 200.0])
    func outbound(seed: UInt64, time: Double) {
        let worlds = [World(seed: seed), World(seed: seed)]
        let random = SeededRandom(seed: seed)
        let packets = (0..<100).map { tag in
            let isIPv6 = random.next(below: 3) == 0
            var packet = InnerPacket.make(
                from: Simulation.innerAddress(of: 2, isIPv6: isIPv6),
                to: Simulation.innerAddress(of: Int(random.next(below: 4)), isIPv6: isIPv6),
                byteCount: 60 + Int(random.next(below: 400)), tag: UInt64(tag))
            if random.next(below: 10) == 0 { packet[0] = 0 }
            return packet
        }
        worlds[0].hub.send(packets, at: seconds(time))
        for packet in packets { worlds[1].hub.send([packet], at: seconds(time)) }
        let trace = Trace(worlds[0].hub)
        #expect(trace == Trace(worlds[1].hub), "seed \(seed)")
        #expect(trace.drops[.noRoute] > 0, "seed \(seed)")
        #expect(trace.drops[.malformedPacket] > 0, "seed \(seed)")
    }
}
