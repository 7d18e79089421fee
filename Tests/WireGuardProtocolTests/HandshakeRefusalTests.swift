// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardCrypto
import WireGuardProtocol

@Suite("Handshake refusals")
struct HandshakeRefusalTests {
    /// The content of `rejected_initiations.json`.
    struct Content: Decodable {
        struct Peer: Decodable {
            let `public`: HexBytes
            let last_timestamp: HexBytes
        }
        struct Message: Decodable {
            let message: HexBytes
            let expect: String
            let reason: String
        }
        let responder_static_private: HexBytes
        let responder_static_public: HexBytes
        let peers: [Peer]
        let messages: [Message]
    }

    /// What a responder with this peer table makes of a message: the kind of refusal, or "control".
    private func judge(_ message: [UInt8], _ local: LocalIdentity, _ peers: [PublicKey: TAI64N]) -> String {
        datagram(message) { message in
            guard MessageKind.of(message) == .handshakeInitiation else {
                if message.count != HandshakeInitiation.byteCount { return "length" }
                return message[1] | message[2] | message[3] == 0 ? "type" : "reserved"
            }
            guard CookieChecker().isMAC1Valid(message, local: local) else { return "mac1" }
            guard var handshake = ResponderHandshake.read(initiation: message, local: local) else {
                guard let fields = HandshakeInitiation(message) else { return "unread" }
                let probe = X25519.sharedSecret(
                    SecretKey([UInt8](repeating: 0x40, count: 32)), fields.ephemeral)
                return probe == nil ? "low_order_ephemeral" : "static_decrypt"
            }
            if handshake.initiator == local.publicKey { return "own_key" }
            guard let last = peers[handshake.initiator] else { return "unknown_peer" }
            let remote = RemoteIdentity(publicKey: handshake.initiator, local: local)
            guard let timestamp = handshake.readTimestamp(remote: remote) else {
                return remote.isWeak ? "low_order_static" : "timestamp_decrypt"
            }
            return timestamp > last ? "control" : "timestamp_replay"
        }
    }

    @Test("each faulty initiation is refused for its reason, and the controls are accepted")
    func initiations() throws {
        let content = try Fixture.load("vectors/rejected_initiations.json", as: Content.self)
        let local = try content.responder_static_private.identity()
        check(try local.publicKey == content.responder_static_public.publicKey())
        var peers: [PublicKey: TAI64N] = [:]
        for peer in content.peers { peers[try peer.public.publicKey()] = TAI64N(peer.last_timestamp.bytes) }
        check(content.messages.count == 58)
        for message in content.messages {
            let kind = String(message.reason.prefix { $0 != ":" })
            check(judge(message.message.bytes, local, peers) == kind, "\(message.reason)")
            check((kind == "control") == (message.expect == "accept"), "\(message.reason)")
        }
    }

    @Test("a response with any bit changed is refused, and the true one is accepted afterwards")
    func responsesWithFlippedBits() throws {
        let vector = try #require(try HandshakeVectors.load().dropFirst().first)
        let inputs = vector.inputs
        let local = try inputs.initiator_static_private.identity()
        let remote = RemoteIdentity(publicKey: try inputs.responder_static_public.publicKey(), local: local)
        var message = [UInt8](repeating: 0, count: 148)
        let begun = written(&message) {
            InitiatorHandshake.begin(
                local: local, remote: remote, ephemeral: SecretKey(inputs.initiator_ephemeral_private.bytes),
                senderIndex: inputs.initiator_index, timestamp: TAI64N(inputs.timestamp.bytes), into: $0)
        }
        guard let handshake = begun else {
            Issue.record("no handshake")
            return
        }
        let presharedKey = try inputs.preshared_key.presharedKey()
        func isAccepted(_ response: [UInt8], _ presharedKey: PresharedKey?) -> Bool {
            datagram(response) {
                handshake.complete(response: $0, local: local, presharedKey: presharedKey) != nil
            }
        }
        // The sender index is not covered by the tag; bit 255 of the ephemeral is, although the curve ignores it.
        for bit in 0..<(8 * 60) where !(32..<64).contains(bit) {
            var changed = vector.response.bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            check(!isAccepted(changed, presharedKey), "bit \(bit)")
        }
        for byteCount in 0...200 where byteCount != 92 {
            let resized = Array(
                (vector.response.bytes + vector.response.bytes + vector.response.bytes).prefix(byteCount))
            check(!isAccepted(resized, presharedKey), "\(byteCount) bytes")
        }
        check(!isAccepted(vector.response.bytes, nil))
        check(!isAccepted(vector.response.bytes, PresharedKey()))
        check(isAccepted(vector.response.bytes, presharedKey))
        check(isAccepted(vector.response.bytes, presharedKey), "the handshake itself does not count its uses")
    }

    @Test("a response with a low-order ephemeral is refused")
    func lowOrderResponse() throws {
        let vector = try #require(try HandshakeVectors.load().first)
        let local = try vector.inputs.initiator_static_private.identity()
        let remote = RemoteIdentity(
            publicKey: try vector.inputs.responder_static_public.publicKey(), local: local)
        var message = [UInt8](repeating: 0, count: 148)
        let begun = written(&message) {
            InitiatorHandshake.begin(
                local: local, remote: remote,
                ephemeral: SecretKey(vector.inputs.initiator_ephemeral_private.bytes),
                senderIndex: 1, timestamp: TAI64N(vector.inputs.timestamp.bytes), into: $0)
        }
        guard let handshake = begun else {
            Issue.record("no handshake")
            return
        }
        for point in try lowOrderPoints() {
            var response = [UInt8](repeating: 0, count: 92)
            written(&response) {
                HandshakeResponse(
                    senderIndex: 2, receiverIndex: 1, ephemeral: point,
                    encryptedNothing: [16 of UInt8](repeating: 0)
                ).writeBody(into: $0)
            }
            let isRefused = datagram(response) {
                handshake.complete(response: $0, local: local, presharedKey: nil) == nil
            }
            check(isRefused, "\(point)")
        }
    }

    @Test("no initiation is ever made for a peer whose key is of low order, or without a private key")
    func weakPeers() throws {
        let local = LocalIdentity(PrivateKey())
        for point in try lowOrderPoints() {
            var remote = RemoteIdentity(publicKey: point, local: nil)
            check(!remote.isWeak, "unknown without a private key")
            check(!begins(remote, local))
            remote.recompute(local: local)
            check(remote.isWeak)
            check(!begins(remote, local))
            remote.recompute(local: nil)
            check(!remote.isWeak)
        }
        var sound = RemoteIdentity(publicKey: PrivateKey().publicKey, local: nil)
        check(!begins(sound, local))
        sound.recompute(local: local)
        check(!sound.isWeak)
        check(begins(sound, local))
    }

    /// Whether an initiation to the peer comes about; if not, nothing may be written.
    private func begins(_ remote: borrowing RemoteIdentity, _ local: LocalIdentity) -> Bool {
        var message = [UInt8](repeating: 0, count: 148)
        let isBegun = written(&message) {
            InitiatorHandshake.begin(
                local: local, remote: remote, ephemeral: SecretKey(randomFrom: SystemRandomSource()),
                senderIndex: 7,
                timestamp: TAI64N([UInt8](repeating: 1, count: 12)), into: $0) != nil
        }
        check(isBegun == (message[0] == 1))
        return isBegun
    }

    /// The encodings of low-order points in `primitives.json`.
    private func lowOrderPoints() throws -> [PublicKey] {
        struct Primitives: Decodable {
            struct LowOrder: Decodable {
                let peer_public: HexBytes
            }
            let x25519_low_order: [LowOrder]
        }
        let points = try Fixture.load("vectors/primitives.json", as: Primitives.self).x25519_low_order
        return try points.map { try $0.peer_public.publicKey() }
    }
}
