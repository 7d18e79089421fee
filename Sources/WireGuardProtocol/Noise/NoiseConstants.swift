// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

/// The fixed texts of the handshake and what follows from them alone (section 5.4 of the WireGuard paper).
enum NoiseConstants {
    /// The name of the Noise construction.
    private static let construction: StaticString = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s"
    /// The name of the protocol and of its author.
    private static let identifier: StaticString = "WireGuard v1 zx2c4 Jason@zx2c4.com"
    /// The label of the key of mac1.
    private static let mac1Label: StaticString = "mac1----"
    /// The label of the key of cookie replies.
    private static let cookieLabel: StaticString = "cookie--"

    /// Hash(Construction), the chaining key that every handshake starts from.
    static let initialChainingKey: [32 of UInt8] = hash(construction, RawSpan())

    /// Hash(Hash(Construction) || Identifier), the hash that every handshake starts from.
    private static let initialHash: [32 of UInt8] = {
        var state = BLAKE2s()
        unsafe state.update(initialChainingKey.span.bytes)
        return finish(&state, identifier, RawSpan())
    }()

    /// The handshake's hash after the responder's static public key was mixed in.
    static func handshakeHash(responder: PublicKey) -> [32 of UInt8] {
        var state = BLAKE2s()
        unsafe state.update(initialHash.span.bytes)
        return responder.withBytes { finish(&state, "", $0) }
    }

    /// The keyed state that computes mac1 of messages to `receiver`, its key block compressed already.
    static func mac1State(receiver: PublicKey) -> BLAKE2s {
        let key = receiver.withBytes { hash(mac1Label, $0) }
        var state = unsafe BLAKE2s(key: key.span.bytes, outputByteCount: MessageMACs.byteCount)
        state.compressKeyBlock()
        return state
    }

    /// The key that encrypts cookies in replies from `replier`.
    static func cookieKey(replier: PublicKey) -> SecretKey {
        let key = replier.withBytes { hash(cookieLabel, $0) }
        return unsafe SecretKey(copying: key.span.bytes)
    }

    /// Hash(label || bytes).
    private static func hash(_ label: StaticString, _ bytes: RawSpan) -> [32 of UInt8] {
        var state = BLAKE2s()
        return finish(&state, label, bytes)
    }

    /// Appends the label and the bytes and gives the hash.
    private static func finish(_ state: inout BLAKE2s, _ label: StaticString, _ bytes: RawSpan) -> [
        32 of UInt8
    ] {
        label.withUTF8Buffer { unsafe state.update($0.span.bytes) }
        state.update(bytes)
        var output = [32 of UInt8](repeating: 0)
        var span = output.mutableSpan
        var target = unsafe span.mutableBytes
        state.finalize(into: &target)
        return output
    }
}
