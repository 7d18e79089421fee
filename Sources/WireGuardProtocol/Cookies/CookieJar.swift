// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

/// What this host remembers about the cookies of one peer (section 5.4.7); erased with this value.
package struct CookieJar: ~Copyable, Sendable {
    /// How long a cookie is used.
    package static let lifetime = Interval.seconds(120)

    /// mac1 of the last handshake message sent to the peer, until a reply used it up.
    private var lastMAC1: [16 of UInt8]?
    /// The cookie, in the first 16 bytes.
    private var cookie = SecretKey()
    /// When the cookie came.
    private var birth: Instant?

    /// Starts without a cookie.
    package init() {}

    /// Takes the cookie out of a reply.
    ///
    /// A reply is bound to mac1 of the message that it answers, and each message has at most one reply: once
    /// it was accepted, further replies are refused until the next message leaves. The caller must not take
    /// the reply's source for the peer's endpoint.
    ///
    /// - Parameter reply: A datagram of any size.
    /// - Returns: Whether the reply was authentic.
    package mutating func consume(
        _ reply: UnsafeRawBufferPointer, remote: borrowing RemoteIdentity, at now: Instant
    ) -> Bool {
        guard let mac1 = lastMAC1, let reply = unsafe CookieReply(reply) else { return false }
        var opened = SecretKey()
        let isAuthentic = opened.withMutableBytes { target in
            var output = target._mutatingExtracting(first: MessageMACs.byteCount)
            return unsafe XChaCha20Poly1305.open(
                reply.encryptedCookie.span.bytes, key: remote.cookieKey, nonce: reply.nonce.span.bytes,
                associatedData: mac1.span.bytes, into: &output)
        }
        guard isAuthentic else { return false }
        cookie = opened
        birth = now
        lastMAC1 = nil
        return true
    }

    /// Notes mac1 of a message that is about to be sent.
    package mutating func remember(mac1: [16 of UInt8]) {
        lastMAC1 = mac1
    }

    /// Mac(cookie, message), or `nil` without a cookie that is young enough.
    func mac2(over message: UnsafeRawBufferPointer, at now: Instant) -> [16 of UInt8]? {
        guard let birth, now - birth < Self.lifetime else { return nil }
        let keyed = cookie.withBytes {
            BLAKE2s(key: $0.extracting(first: MessageMACs.byteCount), outputByteCount: MessageMACs.byteCount)
        }
        return unsafe MessageMACs.compute(keyed, over: message)
    }
}
