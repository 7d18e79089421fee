// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
internal import WireGuardProtocol

/// The work of a handshake, message by message, and of the answers under load.
enum HandshakeBenchmarks {
    static let all = [
        Benchmark("handshake.x25519") {
            let key = SecretKey(randomFrom: SystemRandomSource())
            let publicKey = PrivateKey().publicKey
            return { count in
                for _ in 0..<count { keep(X25519.sharedSecret(key, publicKey)) }
            }
        },
        Benchmark("handshake.initiation") {
            let parties = HandshakeParties()
            let message = MessageBuffer(byteCount: HandshakeInitiation.byteCount)
            return { count in
                for _ in 0..<count { keep(parties.begin(into: message)) }
            }
        },
        Benchmark("handshake.response") {
            let parties = HandshakeParties()
            let initiation = parties.initiation()
            let response = MessageBuffer(byteCount: HandshakeResponse.byteCount)
            let checker = CookieChecker()
            var cookies = CookieJar()
            return { count in
                for _ in 0..<count {
                    parties.respond(to: initiation, checker: checker, cookies: &cookies, into: response)
                }
            }
        },
        Benchmark("handshake.completion") {
            let parties = HandshakeParties()
            let initiation = MessageBuffer(byteCount: HandshakeInitiation.byteCount)
            let response = MessageBuffer(byteCount: HandshakeResponse.byteCount)
            let handshake = parties.begin(into: initiation)
            let checker = CookieChecker()
            var cookies = CookieJar()
            parties.respond(to: initiation, checker: checker, cookies: &cookies, into: response)
            return { count in
                for _ in 0..<count {
                    precondition(
                        checker.isMAC1Valid(response.bytes, local: parties.initiator), "mac1 is right")
                    let keys = handshake.complete(
                        response: response.bytes, local: parties.initiator, presharedKey: nil)
                    precondition(keys != nil, "the response is a true one")
                }
            }
        },
        Benchmark("handshake.cookie-reply") {
            let parties = HandshakeParties()
            let initiation = parties.initiation()
            let reply = MessageBuffer(byteCount: CookieReply.byteCount)
            var checker = CookieChecker()
            return { count in
                for _ in 0..<count { answer(initiation, parties, &checker, into: reply) }
            }
        },
        Benchmark("handshake.cookie-check") {
            let parties = HandshakeParties()
            let reply = MessageBuffer(byteCount: CookieReply.byteCount)
            var checker = CookieChecker()
            answer(parties.initiation(), parties, &checker, into: reply)
            let isAuthentic = parties.cookies.consume(
                reply.bytes, remote: parties.remoteResponder, at: HandshakeParties.now)
            precondition(isAuthentic, "the reply answers the last message")
            let initiation = parties.initiation()
            return { count in
                for _ in 0..<count {
                    let isValid = checker.isMAC2Valid(
                        initiation.bytes, from: HandshakeParties.source, at: HandshakeParties.now)
                    precondition(isValid, "mac2 comes from the cookie")
                }
            }
        },
    ]

    /// Refuses an initiation as a device under load does.
    private static func answer(
        _ initiation: MessageBuffer, _ parties: HandshakeParties, _ checker: inout CookieChecker,
        into reply: MessageBuffer
    ) {
        let (source, now) = (HandshakeParties.source, HandshakeParties.now)
        precondition(checker.isMAC1Valid(initiation.bytes, local: parties.responder), "mac1 is right")
        precondition(!checker.isMAC2Valid(initiation.bytes, from: source, at: now), "there is no cookie yet")
        checker.writeReply(
            to: initiation.bytes, from: source, local: parties.responder, random: parties.random, at: now,
            into: reply.start)
    }
}
