// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// The second message of a handshake, from the responder to the initiator (section 5.4.3).
///
///     0   type 2, three reserved bytes
///     4   sender index
///     8   receiver index
///     12  unencrypted ephemeral, 32 bytes
///     44  encrypted nothing: the tag
///     60  mac1, 16 bytes
///     76  mac2, 16 bytes
package struct HandshakeResponse: Sendable {
    /// The type word: the type and three reserved zero bytes.
    static let type: UInt32 = 2
    /// The size of the message.
    package static let byteCount = 92
    /// The size of the message up to mac1.
    package static let bodyByteCount = 60

    /// The index that the responder wants to be addressed by.
    package var senderIndex: UInt32
    /// The sender index of the initiation that this message answers.
    package var receiverIndex: UInt32
    /// The responder's ephemeral public key.
    package var ephemeral: PublicKey
    /// The tag of an empty plaintext.
    package var encryptedNothing: [16 of UInt8]

    /// Creates a message from its fields.
    package init(
        senderIndex: UInt32, receiverIndex: UInt32, ephemeral: PublicKey, encryptedNothing: [16 of UInt8]
    ) {
        self.senderIndex = senderIndex
        self.receiverIndex = receiverIndex
        self.ephemeral = ephemeral
        self.encryptedNothing = encryptedNothing
    }

    /// Reads a message, or gives `nil` when type or size are those of another one; the macs are left out.
    package init?(_ datagram: UnsafeRawBufferPointer) {
        guard unsafe MessageKind.of(datagram) == .handshakeResponse else { return nil }
        senderIndex = unsafe WireFormat.load(datagram, at: 4)
        receiverIndex = unsafe WireFormat.load(datagram, at: 8)
        ephemeral = unsafe WireFormat.publicKey(datagram, at: 12)
        encryptedNothing = unsafe datagram.loadUnaligned(fromByteOffset: 44, as: [16 of UInt8].self)
    }

    /// Writes the first 60 of the 92 bytes; `MessageMACs` adds the rest.
    package func writeBody(into message: UnsafeMutableRawPointer) {
        unsafe WireFormat.store(Self.type, into: message, at: 0)
        unsafe WireFormat.store(senderIndex, into: message, at: 4)
        unsafe WireFormat.store(receiverIndex, into: message, at: 8)
        unsafe WireFormat.store(ephemeral, into: message, at: 12)
        unsafe message.storeBytes(of: encryptedNothing, toByteOffset: 44, as: [16 of UInt8].self)
    }
}
