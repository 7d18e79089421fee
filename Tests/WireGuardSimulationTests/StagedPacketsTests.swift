// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardSimulation

@testable internal import WireGuardProtocol

@Suite("Packets that wait for a handshake")
struct StagedPacketsTests {
    /// The number of bytes that wait for handshakes.
    private func stagedByteCount(_ device: SimulatedDevice, in simulation: Simulation) -> Int {
        var count = 0
        device.withDevice(at: simulation.now) { device, _ in count = device.stagedByteCount }
        return count
    }

    @Test("the packets that a full queue gave up count no longer as waiting")
    func fullQueue() {
        let simulation = Simulation.pair(seed: 91)
        simulation.filter = { _, _ in false }
        for tag in 0..<200 as Range<UInt64> { simulation.send(from: 0, to: 1, byteCount: 100, tag: tag) }
        #expect(stagedByteCount(simulation.devices[0], in: simulation) == 128 * 100)
    }

    @Test("at most 8 MiB wait over all peers, and what is given up makes room again")
    func limitOverAllPeers() throws {
        let simulation = Simulation(seed: 92)
        let device = simulation.addDevice()
        for number in 1...2 {
            let key = PrivateKey(SecretKey(randomFrom: simulation.random)).publicKey
            let prefix = try #require(
                IPPrefix(address: Simulation.innerAddress(of: number), length: 32))
            device.setPeer(key) {
                $0.endpoint = SocketAddress(address: IPAddress(ipv4: 0xCB00_7109), port: 999)
                $0.allowedIPs = [.init(prefix)]
            }
        }
        func send(to number: Int, byteCount: Int) {
            let packet = InnerPacket.make(
                from: Simulation.innerAddress(of: 0), to: Simulation.innerAddress(of: number),
                byteCount: byteCount)
            device.send([packet], at: simulation.now)
        }
        for _ in 0..<128 { send(to: 1, byteCount: 65_535) }
        // 128 bytes are left.
        send(to: 2, byteCount: 129)
        #expect(device.drops[.stagedQueueFull] == 1)
        send(to: 2, byteCount: 128)
        #expect(device.drops[.stagedQueueFull] == 1)
        #expect(stagedByteCount(device, in: simulation) == 8 << 20)
        send(to: 2, byteCount: 28)
        #expect(device.drops[.stagedQueueFull] == 2)
        simulation.run(for: .seconds(100))
        #expect(device.drops[.handshakeGivenUp] == 129)
        #expect(stagedByteCount(device, in: simulation) == 0)
        send(to: 2, byteCount: 129)
        #expect(device.drops[.stagedQueueFull] == 2)
    }

    @Test("an interface that goes down drops what waits, and it is not sent when it comes up")
    func down() {
        let simulation = Simulation.pair(seed: 93)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { _, _ in false }
        simulation.send(from: 0, to: 1, tag: 1)
        #expect(stagedByteCount(first, in: simulation) == 100)
        simulation.restart(first)
        #expect(stagedByteCount(first, in: simulation) == 0)
        simulation.filter = nil
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(for: .seconds(1))
        #expect(second.deliveredTags == [2])
    }

    @Test(
        "the ECN bits of a packet are those of its datagram, whether it waited or not; handshakes are AF41",
        arguments: 0..<4 as Range<UInt8>)
    func trafficClass(congestion: UInt8) {
        let simulation = Simulation.pair(seed: 94)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        let packet = InnerPacket.make(
            from: Simulation.innerAddress(of: 0), to: Simulation.innerAddress(of: 1), congestion: congestion)
        first.send([packet], at: simulation.now)
        simulation.run(for: .seconds(1))
        first.send([packet], at: simulation.now)
        simulation.run(for: .seconds(15))
        #expect(first.initiations.map(\.trafficClass) == [0x88])
        #expect(second.responses.map(\.trafficClass) == [0x88])
        #expect(first.transportData.map(\.trafficClass) == [congestion, congestion])
        #expect(second.keepalives.map(\.trafficClass) == [0])
    }
}
