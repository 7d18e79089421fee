// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

@Suite("Drop reasons")
struct DropReasonTests {
    @Test("every packet that a device does not pass on is counted under its reason")
    func outbound() throws {
        let simulation = Simulation(seed: 51)
        let device = simulation.addDevice()
        let key = PrivateKey(SecretKey(randomFrom: SeededRandom(seed: 1))).publicKey
        let prefix = try IPPrefix("10.0.0.0/24")
        device.setPeer(key) { $0.allowedIPs = [.init(prefix)] }
        func packet(_ destination: String) throws -> [UInt8] {
            InnerPacket.make(from: try IPAddress("10.9.0.1"), to: try IPAddress(destination))
        }
        var longer = try packet("10.0.0.1")
        longer.append(0)
        for malformed in [
            [0x45], [UInt8](repeating: 0, count: 60), [UInt8](repeating: 0xFF, count: 60), longer,
        ] {
            device.send([malformed], at: simulation.now)
        }
        #expect(device.drops[.malformedPacket] == 4)
        device.send([try packet("10.1.0.1")], at: simulation.now)
        #expect(device.drops[.noRoute] == 1)
        device.send([try packet("10.0.0.1")], at: simulation.now)
        #expect(device.drops[.noEndpoint] == 1)
        device.withDevice(at: simulation.now) { $0.setUp(false, at: simulation.now, into: &$1) }
        device.send([try packet("10.0.0.1")], at: simulation.now)
        #expect(device.drops[.notReady] == 1)
        #expect(device.drops.total == 7)
        #expect(device.sent.isEmpty)
    }

    @Test(
        "a decrypted packet with a broken header is counted and not delivered, and the peer stays reachable")
    func malformedInner() {
        let simulation = Simulation.pair(seed: 52)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .seconds(1))
        // The planned packet is overwritten before it is sealed, as a faulty peer would send it.
        var batch = PacketBatch(slotCapacity: 4, byteCapacity: 4096)
        var outbox = Outbox()
        let inner = InnerPacket.make(from: Simulation.innerAddress(of: 0), to: Simulation.innerAddress(of: 1))
        for broken in 0..<3 {
            batch.removeAll()
            guard let data = batch.append(byteCount: inner.count) else {
                Issue.record("the batch has room")
                return
            }
            inner.withUnsafeBytes {
                data.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(data), byteCount: inner.count)
            }
            first.withDevice(at: simulation.now) { device, _ in
                device.planOutbound(&batch, at: simulation.now, into: &outbox)
            }
            switch broken {
            case 0: data.storeBytes(of: 0x05, as: UInt8.self)
            case 1: data.storeBytes(of: 0xFF, toByteOffset: 2, as: UInt8.self)
            default: data.storeBytes(of: 0x41, as: UInt8.self)
            }
            batch.seal()
            second.receive([(first.address, Array(batch.sealedDatagram(0)))], at: simulation.now)
        }
        #expect(second.drops[.malformedInnerPacket] == 3)
        #expect(second.delivered.count == 1)
        simulation.send(from: 0, to: 1, tag: 2)
        simulation.run(for: .seconds(1))
        #expect(second.delivered.count == 2)
    }

    @Test("initiations closer together than 20 ms are a flood; each is counted")
    func handshakeFlood() throws {
        let simulation = Simulation.pair(seed: 53)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        var initiations: [[UInt8]] = []
        for step in 0..<3 as Range<Int64> {
            let now = Instant(nanoseconds: step * 1000)
            initiations.append(try Self.freshInitiation(of: first, at: now))
        }
        for bytes in initiations { second.receive([(first.address, bytes)], at: simulation.now) }
        #expect(second.drops[.handshakeFlood] == 2)
        #expect(second.sent.count == 1)
    }

    @Test("a wrong mac1, an unknown peer and a cookie reply that answers nothing are told apart")
    func handshakeRefusals() throws {
        let simulation = Simulation.pair(seed: 54)
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        simulation.send(from: 0, to: 1)
        let initiation = try #require(first.sent.first).bytes
        var wrongMAC = initiation
        wrongMAC[116] ^= 1
        second.receive([(first.address, wrongMAC)], at: simulation.now)
        #expect(second.drops[.invalidMAC1] == 1)
        second.setPeer(first.publicKey) { $0.isRemoval = true }
        second.receive([(first.address, initiation)], at: simulation.now)
        #expect(second.drops[.unknownPeer] == 1)
        var reply = [UInt8](repeating: 0, count: 64)
        reply[0] = 3
        first.receive([(second.address, reply)], at: simulation.now)
        #expect(first.drops[.unknownReceiverIndex] == 1)
        reply.replaceSubrange(4..<8, with: initiation[4..<8])
        first.receive([(second.address, reply)], at: simulation.now)
        #expect(first.drops[.invalidCookieReply] == 1)
        #expect(second.sent.isEmpty)
    }

    @Test("a source that proves its address but sends more than 20 messages a second is limited")
    func rateLimit() throws {
        let simulation = Simulation.pair(seed: 55, load: LoadDetector(rate: 1, capacity: 1))
        let (first, second) = (simulation.devices[0], simulation.devices[1])
        // A cookie first, then one initiation after the other that carries mac2.
        for step in 0..<40 as Range<Int64> {
            let now = Instant(nanoseconds: step * 21_000_000)
            second.receive([(first.address, try Self.freshInitiation(of: first, at: now))], at: now)
            for reply in second.takePending() where reply.bytes[0] == 3 {
                first.receive([(second.address, reply.bytes)], at: now)
            }
        }
        // 5 at once and 20 in each of 0.8 s: the rest of the 38 is refused.
        #expect((14...20).contains(second.drops[.rateLimited]), "\(second.drops[.rateLimited])")
        #expect(second.sent.filter { $0.bytes[0] == 2 }.count >= 18)
    }

    /// Has a device that is taken down and up again send a packet, and gives the initiation that it sends first.
    private static func freshInitiation(of device: SimulatedDevice, at now: Instant) throws -> [UInt8] {
        device.withDevice(at: now) { device, outbox in
            device.setUp(false, at: now, into: &outbox)
            device.setUp(true, at: now, into: &outbox)
        }
        device.send(
            [InnerPacket.make(from: Simulation.innerAddress(of: 0), to: Simulation.innerAddress(of: 1))],
            at: now)
        return try #require(device.sent.last).bytes
    }
}
