// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

/// The two message authentication codes at the end of each handshake message (section 5.4.4).
package enum MessageMACs {
    /// The size of a code, and of a cookie.
    package static let byteCount = 16

    /// Writes mac1 and mac2 behind the body of a message to `remote`.
    ///
    /// mac1 is remembered in the jar, since a cookie reply is bound to it. mac2 is zero unless the jar holds
    /// a cookie younger than 120 s.
    ///
    /// - Parameters:
    ///   - message: `bodyByteCount + 32` bytes, the body written already.
    ///   - bodyByteCount: 116 for an initiation, 60 for a response.
    package static func write(
        _ message: UnsafeMutableRawPointer, bodyByteCount: Int, remote: borrowing RemoteIdentity,
        cookies: inout CookieJar, at now: Instant
    ) {
        let withoutMAC1 = unsafe UnsafeRawBufferPointer(start: message, count: bodyByteCount)
        let mac1 = unsafe compute(remote.mac1State, over: withoutMAC1)
        unsafe message.storeBytes(of: mac1, toByteOffset: bodyByteCount, as: [16 of UInt8].self)
        cookies.remember(mac1: mac1)
        let withoutMAC2 = unsafe UnsafeRawBufferPointer(start: message, count: bodyByteCount + byteCount)
        let mac2 = unsafe cookies.mac2(over: withoutMAC2, at: now) ?? [16 of UInt8](repeating: 0)
        unsafe message.storeBytes(of: mac2, toByteOffset: bodyByteCount + byteCount, as: [16 of UInt8].self)
    }

    /// Mac(key, message), where the key is in the state already.
    static func compute(_ keyed: consuming BLAKE2s, over message: UnsafeRawBufferPointer) -> [16 of UInt8] {
        unsafe keyed.update(RawSpan(_unsafeBytes: message))
        var result = [16 of UInt8](repeating: 0)
        var span = result.mutableSpan
        var output = unsafe span.mutableBytes
        keyed.finalize(into: &output)
        return result
    }

    /// Whether the code at `offset` of a message equals `expected`, in constant time.
    static func isEqual(_ expected: [16 of UInt8], _ message: UnsafeRawBufferPointer, at offset: Int) -> Bool
    {
        let code = unsafe message.loadUnaligned(fromByteOffset: offset, as: [16 of UInt8].self)
        return unsafe ConstantTime.areEqual(expected.span.bytes, code.span.bytes)
    }

    /// The size of a handshake message up to mac1, or `nil` for every other datagram.
    static func bodyByteCount(of message: UnsafeRawBufferPointer) -> Int? {
        switch unsafe MessageKind.of(message) {
        case .handshakeInitiation: HandshakeInitiation.bodyByteCount
        case .handshakeResponse: HandshakeResponse.bodyByteCount
        default: nil
        }
    }
}
