// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardSimulation

@testable internal import WireGuardProtocol

@Suite("Limits of a keypair")
struct KeypairLimitTests {
    /// Sets the counter that the next packet of a device's only peer gets.
    private func setSendCounter(_ counter: UInt64, of device: SimulatedDevice, in simulation: Simulation) {
        device.withDevice(at: simulation.now) { device, _ in
            device.peers[device.peers.numbers[0]].keypairs.current?.pointee.sendCounter = counter
        }
    }

    /// The number of initiations that a device sent.
    private func initiations(_ device: SimulatedDevice) -> Int {
        device.sent.filter { $0.bytes[0] == 1 }.count
    }

    @Test("after 2^60 messages either side asks for a new keypair", arguments: [0, 1])
    func rekeyAfterMessages(sender: Int) {
        let simulation = Simulation.session(seed: 41)
        let device = simulation.devices[sender]
        simulation.run(for: .seconds(10))
        setSendCounter((1 << 60) - 1, of: device, in: simulation)
        simulation.send(from: sender, to: 1 - sender)
        #expect(initiations(device) == 0)
        simulation.send(from: sender, to: 1 - sender)
        #expect(initiations(device) == 1)
        #expect(device.sent.filter { $0.bytes[0] == 4 && $0.bytes.count > 32 }.count == 2)
    }

    @Test("at 2^64 - 2^13 - 1 nothing more leaves on a keypair, and the packet waits for the next one")
    func rejectAfterMessages() {
        let simulation = Simulation.session(seed: 41)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.run(for: .seconds(10))
        let limit = UInt64.max - 8192
        setSendCounter(limit - 1, of: first, in: simulation)
        simulation.send(from: 0, to: 1, tag: 5)
        let last = first.sent.last { $0.bytes[0] == 4 }
        #expect(
            last?.bytes[8..<16].elementsEqual(withUnsafeBytes(of: (limit - 1).littleEndian, Array.init))
                == true)
        first.clearRecords()
        simulation.send(from: 0, to: 1, tag: 6)
        #expect(first.sent.allSatisfy { $0.bytes[0] == 1 })
        simulation.run(for: .seconds(6))
        #expect(Set(second.delivered.map { InnerPacket.tag(of: $0.packet) }) == [5, 6])
    }

    @Test("a received counter at the limit is refused before any decryption")
    func receivedCounterAtLimit() throws {
        let simulation = Simulation.session(seed: 41)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1, tag: 2)
        var bytes = try #require(first.sent.last).bytes
        bytes.replaceSubrange(8..<16, with: withUnsafeBytes(of: (UInt64.max - 8192).littleEndian, Array.init))
        second.receive([(first.address, bytes)], at: simulation.now)
        #expect(second.drops[.expiredKeypair] == 1)
    }

    @Test("a responder sends on a keypair only after the first packet on it came")
    func unconfirmedKeypair() {
        let simulation = Simulation.pair(seed: 42)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { datagram, source in !(source === first && datagram.bytes[0] == 4) }
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .milliseconds(100))
        simulation.send(from: 1, to: 0, tag: 2)
        #expect(second.sent.allSatisfy { $0.bytes[0] != 4 })
        simulation.filter = nil
        simulation.send(from: 0, to: 1, tag: 3)
        simulation.run(for: .milliseconds(100))
        #expect(first.delivered.map { InnerPacket.tag(of: $0.packet) } == [2])
    }

    @Test("the previous keypair still opens packets that were on their way during a rekey")
    func previousKeypair() throws {
        let simulation = Simulation.session(seed: 41)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.filter = { _, _ in false }
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.filter = nil
        let late = try #require(first.sent.last).bytes
        simulation.run(until: Instant(nanoseconds: 121_000_000_000))
        simulation.send(from: 0, to: 1, tag: 3)
        simulation.run(for: .seconds(1))
        #expect(initiations(first) == 1)
        second.receive([(first.address, late)], at: simulation.now)
        #expect(second.delivered.map { InnerPacket.tag(of: $0.packet) }.last == 2)
    }

    @Test("a PSK, a private key and a peer are not printed by any description of a change or a snapshot")
    func secretsAreNotPrinted() {
        let simulation = Simulation.pair(
            seed: 43, presharedKey: PresharedKey(SecretKey(randomFrom: SeededRandom(seed: 3))))
        let device = simulation.devices[0]
        var change = ConfigurationChange()
        change.privateKey = .set(device.privateKey)
        let texts = [
            "\(device.snapshot)", "\(change)", String(reflecting: device.snapshot),
            String(reflecting: change),
        ]
        var dumped = ""
        dump(device.snapshot, to: &dumped)
        let psk = device.snapshot.peers[0].presharedKey
        for text in texts + [dumped] {
            #expect(!text.contains(device.privateKey.base64))
            #expect(psk.map { !text.contains($0.base64) } ?? false)
        }
    }
}
