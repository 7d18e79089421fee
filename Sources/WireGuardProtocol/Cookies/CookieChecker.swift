// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// The receiver's side of mac1, mac2 and cookies: who may make this host work (section 5.3).
///
/// Without state for each source: a cookie is a code over the source under a secret that changes every 120 s.
package struct CookieChecker: ~Copyable, Sendable {
    /// How long a secret is used.
    package static let secretLifetime = Interval.seconds(120)

    /// The secret that cookies come from.
    private var secret = SecretKey()
    /// When the secret was drawn; `nil` before the first.
    private var birth: Instant?

    /// Starts without a secret; it is drawn when the first cookie is given out.
    package init() {}

    /// Whether mac1 of an initiation or response to this host is right, in constant time.
    ///
    /// - Parameter message: A datagram of any size; all but the two messages are refused.
    package func isMAC1Valid(_ message: UnsafeRawBufferPointer, local: LocalIdentity) -> Bool {
        guard let count = unsafe MessageMACs.bodyByteCount(of: message) else { return false }
        let body = unsafe UnsafeRawBufferPointer(rebasing: message[..<count])
        return unsafe MessageMACs.isEqual(
            MessageMACs.compute(local.mac1State, over: body), message, at: count)
    }

    /// Whether mac2 of an initiation or response was made with the cookie of its source, in constant time.
    package func isMAC2Valid(
        _ message: UnsafeRawBufferPointer, from source: SocketAddress, at now: Instant
    ) -> Bool {
        guard isSecretFresh(at: now), let count = unsafe MessageMACs.bodyByteCount(of: message) else {
            return false
        }
        let offset = count + MessageMACs.byteCount
        let covered = unsafe UnsafeRawBufferPointer(rebasing: message[..<offset])
        let cookie = cookie(of: source)
        let keyed = unsafe BLAKE2s(key: cookie.span.bytes, outputByteCount: MessageMACs.byteCount)
        return unsafe MessageMACs.isEqual(MessageMACs.compute(keyed, over: covered), message, at: offset)
    }

    /// Writes the reply that gives `source` its cookie; draws a new secret when the old one is 120 s old.
    ///
    /// - Parameters:
    ///   - message: An initiation or response whose mac1 is valid.
    ///   - random: The source of the secret and of the nonce.
    ///   - reply: 64 writable bytes.
    package mutating func writeReply(
        to message: UnsafeRawBufferPointer, from source: SocketAddress, local: LocalIdentity,
        random: some RandomSource, at now: Instant, into reply: UnsafeMutableRawPointer
    ) {
        guard let count = unsafe MessageMACs.bodyByteCount(of: message) else {
            preconditionFailure("only an initiation or a response is answered with a cookie")
        }
        if !isSecretFresh(at: now) {
            secret = SecretKey(randomFrom: random)
            birth = now
        }
        let mac1 = unsafe message.loadUnaligned(fromByteOffset: count, as: [16 of UInt8].self)
        var nonce = [24 of UInt8](repeating: 0)
        unsafe withUnsafeMutableBytes(of: &nonce) { unsafe random.fill($0) }
        let cookie = cookie(of: source)
        var encrypted = [32 of UInt8](repeating: 0)
        local.withCookieKey { key in
            var span = encrypted.mutableSpan
            var output = unsafe span.mutableBytes
            unsafe XChaCha20Poly1305.seal(
                cookie.span.bytes, key: key, nonce: nonce.span.bytes, associatedData: mac1.span.bytes,
                into: &output)
        }
        let senderIndex = unsafe WireFormat.load(message, at: 4)
        let message = CookieReply(receiverIndex: senderIndex, nonce: nonce, encryptedCookie: encrypted)
        unsafe message.write(into: reply)
    }

    /// Whether there is a secret younger than 120 s.
    private func isSecretFresh(at now: Instant) -> Bool {
        guard let birth else { return false }
        return now - birth < Self.secretLifetime
    }

    /// Mac(secret, address || port), the port big-endian.
    private func cookie(of source: SocketAddress) -> [16 of UInt8] {
        let high = source.address.high.bigEndian
        let low = source.address.low.bigEndian
        let port = source.port.bigEndian
        let addressByteCount = source.address.isIPv6 ? 16 : 4
        var bytes = [18 of UInt8](repeating: 0)
        return unsafe withUnsafeMutableBytes(of: &bytes) { bytes in
            unsafe bytes.storeBytes(of: high, toByteOffset: 0, as: UInt64.self)
            unsafe bytes.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
            unsafe bytes.storeBytes(of: port, toByteOffset: addressByteCount, as: UInt16.self)
            let source = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<(addressByteCount + 2)])
            let keyed = secret.withBytes { BLAKE2s(key: $0, outputByteCount: MessageMACs.byteCount) }
            return unsafe MessageMACs.compute(keyed, over: source)
        }
    }
}
