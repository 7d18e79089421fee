// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardCrypto
import WireGuardProtocol

@Suite("Handshake")
struct HandshakeTests {
    static let vectors = Result { try HandshakeVectors.load() }

    /// Opens a transport message with a key, or gives `nil`.
    private func open(_ packet: HexBytes, _ key: borrowing SecretKey) -> [UInt8]? {
        guard let header = datagram(packet.bytes, { TransportData($0) }) else { return nil }
        let ciphertext = Array(packet.bytes[TransportData.headerByteCount...])
        var plaintext = [UInt8](repeating: 0, count: ciphertext.count - 16)
        var span = plaintext.mutableSpan
        var output = span.mutableBytes
        let isAuthentic = ChaCha20Poly1305.open(
            ciphertext.span.bytes, key: key, counter: header.counter, associatedData: RawSpan(), into: &output
        )
        return isAuthentic ? plaintext : nil
    }

    /// Seals a transport message with a key.
    private func seal(_ plaintext: [UInt8], _ key: borrowing SecretKey, _ index: UInt32, _ counter: UInt64)
        -> [UInt8]
    {
        var packet = [UInt8](repeating: 0, count: TransportData.headerByteCount)
        written(&packet) { TransportData(receiverIndex: index, counter: counter).writeHeader(into: $0) }
        var ciphertext = [UInt8](repeating: 0, count: plaintext.count + 16)
        var span = ciphertext.mutableSpan
        var output = span.mutableBytes
        ChaCha20Poly1305.seal(
            plaintext.span.bytes, key: key, counter: counter, associatedData: RawSpan(), into: &output)
        return packet + ciphertext
    }

    @Test("the file has its eight handshakes")
    func fileIsWhole() throws {
        #expect(try Self.vectors.get().count == 8)
    }

    @Test("the initiator sends the initiation, and from the response derives the keys, byte for byte")
    func initiator() throws {
        for vector in try Self.vectors.get() {
            let name = Comment(rawValue: vector.name)
            let inputs = vector.inputs
            let local = try inputs.initiator_static_private.identity()
            #expect(try local.publicKey == inputs.initiator_static_public.publicKey(), name)
            let remote = RemoteIdentity(
                publicKey: try inputs.responder_static_public.publicKey(), local: local)
            check(!remote.isWeak, name)

            var message = [UInt8](repeating: 0xEE, count: 148)
            let begun = written(&message) {
                InitiatorHandshake.begin(
                    local: local, remote: remote,
                    ephemeral: SecretKey(inputs.initiator_ephemeral_private.bytes),
                    senderIndex: inputs.initiator_index, timestamp: TAI64N(inputs.timestamp.bytes), into: $0)
            }
            guard let handshake = begun else {
                Issue.record("no handshake: \(vector.name)")
                continue
            }
            #expect(message == vector.initiation.bytes[..<116] + [UInt8](repeating: 0xEE, count: 32), name)
            #expect(handshake.senderIndex == inputs.initiator_index, name)
            #expect(handshake.symmetric.chainingKey.array == vector.step("C_ss"), name)
            #expect(handshake.symmetric.hash.array == vector.step("H_timestamp"), name)

            let presharedKey = try inputs.preshared_key.presharedKey()
            let completed = datagram(vector.response.bytes) {
                handshake.complete(response: $0, local: local, presharedKey: presharedKey)
            }
            guard let keys = completed else {
                Issue.record("the response was refused: \(vector.name)")
                continue
            }
            #expect(keys.sendKey.array == vector.initiator_send_key.bytes, name)
            #expect(keys.receiveKey.array == vector.initiator_receive_key.bytes, name)
            #expect(keys.localIndex == inputs.initiator_index, name)
            #expect(keys.remoteIndex == inputs.responder_index, name)
            let padded =
                vector.inner_packet.bytes
                + [UInt8](repeating: 0, count: -vector.inner_packet.bytes.count & 15)
            #expect(
                seal([], keys.sendKey, keys.remoteIndex, 0) == vector.first_keepalive_from_initiator.bytes,
                name)
            #expect(
                seal(padded, keys.sendKey, keys.remoteIndex, 1) == vector.second_packet_from_initiator.bytes,
                name)
            #expect(open(vector.first_packet_from_responder, keys.receiveKey) == padded, name)
        }
    }

    @Test("the responder reads the initiation step by step, and sends the response, byte for byte")
    func responder() throws {
        for vector in try Self.vectors.get() {
            let name = Comment(rawValue: vector.name)
            let inputs = vector.inputs
            let local = try inputs.responder_static_private.identity()
            let read = datagram(vector.initiation.bytes) {
                ResponderHandshake.read(initiation: $0, local: local)
            }
            guard var handshake = read else {
                Issue.record("the initiation was refused: \(vector.name)")
                continue
            }
            #expect(try handshake.initiator == inputs.initiator_static_public.publicKey(), name)
            #expect(handshake.initiatorIndex == inputs.initiator_index, name)
            #expect(handshake.symmetric.chainingKey.array == vector.step("C_es"), name)
            #expect(handshake.symmetric.hash.array == vector.step("H_static"), name)

            let remote = RemoteIdentity(publicKey: handshake.initiator, local: local)
            let timestamp = handshake.readTimestamp(remote: remote)
            #expect(timestamp?.array == inputs.timestamp.bytes, name)
            #expect(handshake.symmetric.chainingKey.array == vector.step("C_ss"), name)
            #expect(handshake.symmetric.hash.array == vector.step("H_timestamp"), name)
            guard timestamp != nil else { continue }

            var message = [UInt8](repeating: 0xEE, count: 92)
            let presharedKey = try inputs.preshared_key.presharedKey()
            let responded = respond(handshake, vector, presharedKey, into: &message)
            guard let keys = responded else {
                Issue.record("no response: \(vector.name)")
                continue
            }
            #expect(message == vector.response.bytes[..<60] + [UInt8](repeating: 0xEE, count: 32), name)
            #expect(keys.sendKey.array == vector.step("T_responder_send"), name)
            #expect(keys.receiveKey.array == vector.step("T_initiator_send"), name)
            #expect(keys.localIndex == inputs.responder_index, name)
            #expect(keys.remoteIndex == inputs.initiator_index, name)
            #expect(open(vector.first_keepalive_from_initiator, keys.receiveKey) == [], name)
        }
    }

    /// Sends the response with the vector's ephemeral key.
    private func respond(
        _ handshake: consuming ResponderHandshake, _ vector: HandshakeVectors.Handshake,
        _ presharedKey: PresharedKey?, into message: inout [UInt8]
    ) -> TransportKeys? {
        let room = UnsafeMutableRawPointer.allocate(byteCount: message.count, alignment: 16)
        defer { room.deallocate() }
        UnsafeMutableRawBufferPointer(start: room, count: message.count).copyBytes(from: message)
        let keys = handshake.respond(
            ephemeral: SecretKey(vector.inputs.responder_ephemeral_private.bytes),
            senderIndex: vector.inputs.responder_index, presharedKey: presharedKey, into: room)
        message = Array(UnsafeRawBufferPointer(start: room, count: message.count))
        return keys
    }
}
