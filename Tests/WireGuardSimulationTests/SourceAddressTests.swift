// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardSimulation

@testable internal import WireGuardProtocol

@Suite("The source address that talks to a peer")
struct SourceAddressTests {
    /// One of the first device's addresses.
    private let local = IPAddress(ipv4: 0xC000_0264)

    /// The path to the only peer of a device.
    private func path(of device: SimulatedDevice, in simulation: Simulation) -> DatagramPath? {
        var path: DatagramPath?
        device.withDevice(at: simulation.now) { device, _ in
            path = device.peers[device.peers.numbers[0]].path
        }
        return path
    }

    /// Lets a device have learned its own address from its only peer's datagrams.
    private func learn(_ device: SimulatedDevice, in simulation: Simulation) {
        device.withDevice(at: simulation.now) { device, _ in
            let number = device.peers.numbers[0]
            device.peers[number].path?.localAddress = local
            device.peers[number].path?.interfaceIndex = 3
        }
    }

    @Test("the first attempt leaves from the known address, and a retry from any", arguments: seeds)
    func retryForgets(seed: UInt64) {
        let simulation = Simulation.pair(seed: seed)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { _, _ in false }
        learn(first, in: simulation)
        simulation.send(from: 0, to: 1)
        simulation.run(until: seconds(4.9))
        #expect(first.initiations.count == 1, "seed \(seed)")
        #expect(
            path(of: first, in: simulation)
                == DatagramPath(remote: second.address, localAddress: local, interfaceIndex: 3))
        simulation.run(until: seconds(5.4))
        #expect(first.initiations.count == 2, "seed \(seed)")
        #expect(path(of: first, in: simulation) == DatagramPath(remote: second.address))
    }

    @Test("the handshake after 15 s without an answer leaves from any address", arguments: seeds)
    func newHandshakeForgets(seed: UInt64) {
        let simulation = Simulation.pair(seed: seed)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1)
        simulation.run(until: seconds(20))
        simulation.filter = { _, _ in false }
        learn(first, in: simulation)
        simulation.send(from: 0, to: 1)
        simulation.run(until: seconds(34.9))
        #expect(path(of: first, in: simulation)?.localAddress == local, "seed \(seed)")
        simulation.run(until: seconds(35.4))
        #expect(first.initiations.count == 2, "seed \(seed)")
        #expect(path(of: first, in: simulation) == DatagramPath(remote: second.address), "seed \(seed)")
    }

    @Test("setting the endpoint that a peer has keeps the address, and another endpoint forgets it")
    func setEndpoint() {
        let simulation = Simulation.pair(seed: 101)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        learn(first, in: simulation)
        first.setPeer(second.publicKey) { $0.endpoint = second.address }
        #expect(path(of: first, in: simulation)?.localAddress == local)
        let other = SocketAddress(address: second.address.address, port: 1)
        first.setPeer(second.publicKey) { $0.endpoint = other }
        #expect(path(of: first, in: simulation) == DatagramPath(remote: other))
    }
}
