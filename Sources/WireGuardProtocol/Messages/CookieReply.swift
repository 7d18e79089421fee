// SPDX-License-Identifier: MIT

/// The answer of a host under load to a handshake message without a valid mac2 (section 5.4.7).
///
///     0   type 3, three reserved bytes
///     4   receiver index
///     8   nonce, 24 bytes
///     32  encrypted cookie, 16 bytes and tag
package struct CookieReply: Sendable {
    /// The type word: the type and three reserved zero bytes.
    static let type: UInt32 = 3
    /// The size of the message.
    package static let byteCount = 64

    /// The sender index of the message that this one answers.
    package var receiverIndex: UInt32
    /// The random nonce.
    package var nonce: [24 of UInt8]
    /// The cookie, encrypted, and the tag.
    package var encryptedCookie: [32 of UInt8]

    /// Creates a message from its fields.
    package init(receiverIndex: UInt32, nonce: [24 of UInt8], encryptedCookie: [32 of UInt8]) {
        self.receiverIndex = receiverIndex
        self.nonce = nonce
        self.encryptedCookie = encryptedCookie
    }

    /// Reads a message, or gives `nil` when type or size are those of another one.
    package init?(_ datagram: UnsafeRawBufferPointer) {
        guard unsafe MessageKind.of(datagram) == .cookieReply else { return nil }
        receiverIndex = unsafe WireFormat.load(datagram, at: 4)
        nonce = unsafe datagram.loadUnaligned(fromByteOffset: 8, as: [24 of UInt8].self)
        encryptedCookie = unsafe datagram.loadUnaligned(fromByteOffset: 32, as: [32 of UInt8].self)
    }

    /// Writes the 64 bytes.
    package func write(into message: UnsafeMutableRawPointer) {
        unsafe WireFormat.store(Self.type, into: message, at: 0)
        unsafe WireFormat.store(receiverIndex, into: message, at: 4)
        unsafe message.storeBytes(of: nonce, toByteOffset: 8, as: [24 of UInt8].self)
        unsafe message.storeBytes(of: encryptedCookie, toByteOffset: 32, as: [32 of UInt8].self)
    }
}
