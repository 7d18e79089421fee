// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardCrypto
import WireGuardSimulation

@testable import WireGuardProtocol

/// The content of `transport.json`.
private struct TransportVectors: Decodable {
    struct Packet: Decodable {
        let key: HexBytes
        let receiver_index: UInt32
        let counter: String
        let payload: HexBytes
        let padded_plaintext: HexBytes
        let packet: HexBytes
        let reason: String?
    }

    let packets: [Packet]
    let rejected: [Packet]
}

@Suite("Transport data against known answers")
struct TransportVectorTests {
    private let sender = SocketAddress(address: IPAddress(ipv4: 0xC000_0209), port: 9)

    /// A device with one peer and one keypair that opens with the key of a vector.
    private func device(for vector: TransportVectors.Packet) throws -> SimulatedDevice {
        let device = Simulation(seed: 61).addDevice()
        try device.setPeer(PublicKey(rawRepresentation: [UInt8](repeating: 7, count: 32))) { _ in }
        device.withDevice(at: Instant(nanoseconds: 0)) { device, _ in
            let number = device.peers.numbers[0]
            let random = ModelRandomSource(seed: 1) { _ in vector.receiver_index }
            let index = device.indices.insertNew(
                .init(peer: number, kind: IndexKind.keypair), random: random)
            let keys = TransportKeys(
                sendKey: SecretKey(vector.key.bytes), receiveKey: SecretKey(vector.key.bytes),
                localIndex: index,
                remoteIndex: index)
            device.peers[number].keypairs.insertAsInitiator(
                Keypair(keys, created: Instant(nanoseconds: 0), isInitiator: true), released: { _ in })
        }
        return device
    }

    @Test("every packet is sealed to the published bytes, and authenticated when it comes back")
    func packets() throws {
        let vectors = try Fixture.load("vectors/transport.json", as: TransportVectors.self)
        #expect(!vectors.packets.isEmpty)
        for vector in vectors.packets {
            let counter = try #require(UInt64(vector.counter))
            #expect(
                Padding.paddedByteCount(vector.payload.bytes.count, mtu: 0)
                    == vector.padded_plaintext.bytes.count)
            var batch = PacketBatch(slotCapacity: 1, byteCapacity: 65_536)
            let key = SecretKey(vector.key.bytes)
            guard let data = batch.append(byteCount: vector.padded_plaintext.bytes.count) else {
                Issue.record("the batch has room")
                return
            }
            vector.padded_plaintext.bytes.withUnsafeBytes { bytes in
                if let start = bytes.baseAddress { data.copyMemory(from: start, byteCount: bytes.count) }
            }
            batch.slots[0].key = UnsafeRawPointer(key.pointer)
            batch.slots[0].counter = counter
            batch.slots[0].receiverIndex = vector.receiver_index
            batch.slots[0].state = .planned
            batch.seal()
            #expect(Array(batch.sealedDatagram(0)) == vector.packet.bytes)

            let device = try device(for: vector)
            device.receive([(sender, vector.packet.bytes)], at: Instant(nanoseconds: 0))
            // The payloads are no IP packets: authentic ones end there, and empty ones are keepalives.
            #expect(device.drops[.malformedInnerPacket] == (vector.payload.bytes.isEmpty ? 0 : 1))
            #expect(device.drops.total == device.drops[.malformedInnerPacket])
            device.receive([(sender, vector.packet.bytes)], at: Instant(nanoseconds: 0))
            #expect(device.drops[.replayedCounter] == 1)
        }
    }

    @Test("every rejected packet is dropped before or at authentication and moves nothing")
    func rejected() throws {
        let vectors = try Fixture.load("vectors/transport.json", as: TransportVectors.self)
        #expect(!vectors.rejected.isEmpty)
        for vector in vectors.rejected {
            let device = try device(for: vector)
            let reason = try #require(vector.reason)
            // The file holds the whole valid packet where it says "empty"; what it means is no byte at all.
            let bytes = reason == "empty" ? [] : vector.packet.bytes
            device.receive([(sender, bytes)], at: Instant(nanoseconds: 0))
            #expect(device.drops.total == 1, "\(reason)")
            let authenticated: [DropReason] = [
                .malformedInnerPacket, .replayedCounter, .disallowedSource, .congestionNotCapable,
            ]
            for drop in authenticated { #expect(device.drops[drop] == 0, "\(reason)") }
            #expect(device.snapshot.peers[0].endpoint == nil, "\(reason)")
            #expect(device.sent.isEmpty && device.delivered.isEmpty, "\(reason)")
        }
    }
}
