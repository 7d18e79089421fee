// SPDX-License-Identifier: MIT

/// The four kinds of messages of the protocol (section 5.4 of the WireGuard paper).
package enum MessageKind: Hashable, Sendable {
    /// First message of a handshake: type 1, 148 bytes.
    case handshakeInitiation
    /// Second message of a handshake: type 2, 92 bytes.
    case handshakeResponse
    /// Answer of a host under load: type 3, 64 bytes.
    case cookieReply
    /// Encrypted packet or keepalive: type 4, at least 32 bytes.
    case transportData

    /// The kind of a datagram by its type and size, or `nil` when no message looks like it.
    ///
    /// The first byte is the type, the three reserved bytes behind it must be zero, and the size must be
    /// the exact one of the type. Transport data may have any size from 32 bytes on: padding to a multiple
    /// of 16 is the sender's duty and is not checked.
    package static func of(_ datagram: UnsafeRawBufferPointer) -> MessageKind? {
        guard datagram.count >= TransportData.minimumByteCount else { return nil }
        switch unsafe WireFormat.load(datagram, at: 0) {
        case HandshakeInitiation.type:
            return datagram.count == HandshakeInitiation.byteCount ? .handshakeInitiation : nil
        case HandshakeResponse.type:
            return datagram.count == HandshakeResponse.byteCount ? .handshakeResponse : nil
        case CookieReply.type: return datagram.count == CookieReply.byteCount ? .cookieReply : nil
        case TransportData.type: return .transportData
        default: return nil
        }
    }
}
