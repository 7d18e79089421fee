// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
internal import WireGuardProtocol

/// An initiator and a responder that know each other's public keys.
final class HandshakeParties {
    /// The initiator as it knows itself.
    let initiator: LocalIdentity
    /// The responder as it knows itself.
    let responder: LocalIdentity
    /// The responder as the initiator knows it.
    let remoteResponder: RemoteIdentity
    /// The initiator as the responder knows it.
    let remoteInitiator: RemoteIdentity
    let random = SystemRandomSource()
    /// What the initiator knows about cookies.
    var cookies = CookieJar()

    /// Where the initiator's messages come from.
    static let source = SocketAddress(address: IPAddress(ipv4: 0xC000_0201), port: 51_820)
    /// The instant of everything.
    static let now = Instant(nanoseconds: 1_000_000_000)

    /// Draws both keys.
    init() {
        initiator = LocalIdentity(PrivateKey())
        responder = LocalIdentity(PrivateKey())
        remoteResponder = RemoteIdentity(publicKey: responder.publicKey, local: initiator)
        remoteInitiator = RemoteIdentity(publicKey: initiator.publicKey, local: responder)
    }

    /// Writes a whole initiation, with mac1 and mac2.
    func begin(into message: MessageBuffer) -> InitiatorHandshake {
        guard
            let handshake = InitiatorHandshake.begin(
                local: initiator, remote: remoteResponder, ephemeral: SecretKey(randomFrom: random),
                senderIndex: 1, timestamp: TAI64N(WallTime(seconds: 1_800_000_000, nanoseconds: 0)),
                into: message.start)
        else { preconditionFailure("the keys are good ones") }
        MessageMACs.write(
            message.start, bodyByteCount: HandshakeInitiation.bodyByteCount, remote: remoteResponder,
            cookies: &cookies, at: Self.now)
        return handshake
    }

    /// A whole initiation.
    func initiation() -> MessageBuffer {
        let message = MessageBuffer(byteCount: HandshakeInitiation.byteCount)
        keep(begin(into: message))
        return message
    }

    /// Checks and reads an initiation, and writes a whole response.
    func respond(
        to initiation: MessageBuffer, checker: borrowing CookieChecker, cookies: inout CookieJar,
        into message: MessageBuffer
    ) {
        precondition(checker.isMAC1Valid(initiation.bytes, local: responder), "mac1 is right")
        guard var handshake = ResponderHandshake.read(initiation: initiation.bytes, local: responder),
            handshake.readTimestamp(remote: remoteInitiator) != nil,
            let keys = handshake.respond(
                ephemeral: SecretKey(randomFrom: random), senderIndex: 2, presharedKey: nil,
                into: message.start)
        else { preconditionFailure("the initiation is a true one") }
        keep(keys)
        MessageMACs.write(
            message.start, bodyByteCount: HandshakeResponse.bodyByteCount, remote: remoteInitiator,
            cookies: &cookies, at: Self.now)
    }
}
