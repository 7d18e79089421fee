// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// The first message of a handshake, from the initiator to the responder (section 5.4.2).
///
///     0   type 1, three reserved bytes
///     4   sender index
///     8   unencrypted ephemeral, 32 bytes
///     40  encrypted static, 32 bytes and tag
///     88  encrypted timestamp, 12 bytes and tag
///     116 mac1, 16 bytes
///     132 mac2, 16 bytes
package struct HandshakeInitiation: Sendable {
    /// The type word: the type and three reserved zero bytes.
    static let type: UInt32 = 1
    /// The size of the message.
    package static let byteCount = 148
    /// The size of the message up to mac1.
    package static let bodyByteCount = 116

    /// The index that the initiator wants to be addressed by.
    package var senderIndex: UInt32
    /// The initiator's ephemeral public key.
    package var ephemeral: PublicKey
    /// The initiator's static public key, encrypted, and the tag.
    package var encryptedStatic: [48 of UInt8]
    /// The timestamp, encrypted, and the tag.
    package var encryptedTimestamp: [28 of UInt8]

    /// Creates a message from its fields.
    package init(
        senderIndex: UInt32, ephemeral: PublicKey, encryptedStatic: [48 of UInt8],
        encryptedTimestamp: [28 of UInt8]
    ) {
        self.senderIndex = senderIndex
        self.ephemeral = ephemeral
        self.encryptedStatic = encryptedStatic
        self.encryptedTimestamp = encryptedTimestamp
    }

    /// Reads a message, or gives `nil` when type or size are those of another one; the macs are left out.
    package init?(_ datagram: UnsafeRawBufferPointer) {
        guard unsafe MessageKind.of(datagram) == .handshakeInitiation else { return nil }
        senderIndex = unsafe WireFormat.load(datagram, at: 4)
        ephemeral = unsafe WireFormat.publicKey(datagram, at: 8)
        encryptedStatic = unsafe datagram.loadUnaligned(fromByteOffset: 40, as: [48 of UInt8].self)
        encryptedTimestamp = unsafe datagram.loadUnaligned(fromByteOffset: 88, as: [28 of UInt8].self)
    }

    /// Writes the first 116 of the 148 bytes; `MessageMACs` adds the rest.
    package func writeBody(into message: UnsafeMutableRawPointer) {
        unsafe WireFormat.store(Self.type, into: message, at: 0)
        unsafe WireFormat.store(senderIndex, into: message, at: 4)
        unsafe WireFormat.store(ephemeral, into: message, at: 8)
        unsafe message.storeBytes(of: encryptedStatic, toByteOffset: 40, as: [48 of UInt8].self)
        unsafe message.storeBytes(of: encryptedTimestamp, toByteOffset: 88, as: [28 of UInt8].self)
    }
}
