// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

@Suite("Packets of several peers by turns in one batch")
struct InterleavedBatchTests {
    /// Three devices with sessions with a fourth, which they started, and 15 s of silence.
    private func star() -> Simulation {
        let simulation = Simulation(seed: 71)
        for _ in 0..<4 { simulation.addDevice() }
        let hub = simulation.devices[3]
        for device in simulation.devices.dropLast() {
            for (own, other) in [(hub, device), (device, hub)] {
                own.setPeer(other.publicKey) { peer in
                    peer.endpoint = other.address
                    let inner = Simulation.innerAddress(of: other.number)
                    peer.allowedIPs = IPPrefix(address: inner, length: 32).map { [.init($0)] } ?? []
                }
            }
            simulation.send(from: device.number, to: 3)
        }
        simulation.run(until: seconds(15))
        for device in simulation.devices { device.clearRecords() }
        return simulation
    }

    /// The size of packet `number`, between 60 and 359 bytes.
    private func byteCount(_ number: Int) -> Int { 60 + number * 37 % 300 }

    /// The size of the datagrams that hold these packets: padded to 16 bytes, with header and tag.
    private func datagramByteCount(_ numbers: [Int]) -> UInt64 {
        var sum = 0
        for number in numbers { sum += (byteCount(number) + 15) / 16 * 16 + 32 }
        return UInt64(sum)
    }

    /// Expects that these packets and no others came out of a device, in order and whole.
    private func expectDelivery(of numbers: [Int], by device: SimulatedDevice) {
        let tags = numbers.map { UInt64($0) }
        let sizes = numbers.map { byteCount($0) }
        #expect(device.deliveredTags == tags)
        #expect(device.delivered.map(\.packet.count) == sizes)
    }

    /// Packet `number`, from one device to another.
    private func packet(_ number: Int, from source: Int, to destination: Int) -> [UInt8] {
        InnerPacket.make(
            from: Simulation.innerAddress(of: source), to: Simulation.innerAddress(of: destination),
            byteCount: byteCount(number), tag: UInt64(number))
    }

    @Test("each outbound packet goes to its own peer with that peer's next counter, and counts for it alone")
    func outbound() throws {
        let simulation = star()
        let hub = simulation.devices[3]
        let spokes = Array(simulation.devices.dropLast())
        let before = spokes.map { hub.peer($0.publicKey)?.sentByteCount ?? 0 }
        // The passive keepalive for the packet of the start had counter 0.
        hub.send((0..<90).map { packet($0, from: 3, to: $0 % 3) }, at: simulation.now)
        let destinations = (0..<90).map { number in spokes[number % 3].address }
        #expect(hub.sent.map(\.destination) == destinations)
        let counters = hub.sent.map { sent in
            sent.bytes[8..<16].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        let expectedCounters = (0..<90).map { number in UInt64(1 + number / 3) }
        #expect(counters == expectedCounters)
        simulation.run(for: .seconds(1))
        for spoke in spokes {
            let numbers = (0..<90).filter { $0 % 3 == spoke.number }
            expectDelivery(of: numbers, by: spoke)
            let sent = try #require(hub.peer(spoke.publicKey)).sentByteCount - before[spoke.number]
            let expected = datagramByteCount(numbers)
            #expect(sent == expected, "peer \(spoke.number)")
        }
    }

    @Test("inbound packets by turns are judged, counted and answered peer by peer, and one peer roams alone")
    func inbound() throws {
        let simulation = star()
        let hub = simulation.devices[3]
        let spokes = Array(simulation.devices.dropLast())
        let before = spokes.map { hub.peer($0.publicKey)?.receivedByteCount ?? 0 }
        let elsewhere = SocketAddress(address: IPAddress(ipv4: 0xCB00_7109), port: 999)
        // Packet 31, of the second peer, speaks for the first; packet 50, of the third, is damaged; packet 60,
        // of the first, comes twice; from packet 45 on the first peer is elsewhere.
        let datagrams = spokes.map { spoke -> [[UInt8]] in
            let numbers = (0..<90).filter { $0 % 3 == spoke.number }
            let packets = numbers.map { packet($0, from: $0 == 31 ? 0 : spoke.number, to: 3) }
            spoke.send(packets, at: simulation.now)
            return spoke.takePending().map(\.bytes)
        }
        var batch: [(source: SocketAddress, bytes: [UInt8])] = []
        for number in 0..<90 {
            let peer = number % 3
            var bytes = datagrams[peer][number / 3]
            if number == 50 { bytes[20] ^= 1 }
            let source = peer == 0 && number >= 45 ? elsewhere : spokes[peer].address
            batch.append((source, bytes))
            if number == 60 { batch.append((spokes[0].address, bytes)) }
        }
        hub.receive(batch, at: simulation.now)
        let accepted = (0..<90).filter { $0 != 31 && $0 != 50 }
        expectDelivery(of: accepted, by: hub)
        #expect(hub.drops[.disallowedSource] == 1)
        #expect(hub.drops[.authenticationFailed] == 1)
        #expect(hub.drops[.replayedCounter] == 1)
        #expect(hub.drops.total == 3)
        #expect(hub.events.map(\.event) == [.endpointChanged(spokes[0].publicKey, elsewhere)])
        for spoke in spokes {
            let peer = try #require(hub.peer(spoke.publicKey))
            let endpoint = spoke.number == 0 ? elsewhere : spoke.address
            #expect(peer.endpoint == endpoint)
            let received = peer.receivedByteCount - before[spoke.number]
            let expected = datagramByteCount(accepted.filter { $0 % 3 == spoke.number })
            #expect(received == expected, "peer \(spoke.number)")
        }
        // One answer for each peer, 10 s after the batch.
        let time = simulation.now
        simulation.run(for: .seconds(12))
        let due = time + .seconds(10)
        #expect(hub.sent.map(\.time) == [due, due, due])
        #expect(Set(hub.keepalives.map(\.destination)) == [elsewhere, spokes[1].address, spokes[2].address])
    }
}
