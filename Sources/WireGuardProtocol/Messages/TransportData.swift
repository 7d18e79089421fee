// SPDX-License-Identifier: MIT

/// The header of an encrypted packet (section 5.4.6).
///
///     0   type 4, three reserved bytes
///     4   receiver index
///     8   counter
///     16  encrypted packet, a multiple of 16 bytes, and tag
package struct TransportData: Sendable {
    /// The type word: the type and three reserved zero bytes.
    static let type: UInt32 = 4
    /// The size of the header before the ciphertext.
    package static let headerByteCount = 16
    /// The size of a message with an empty packet, which is a keepalive.
    package static let minimumByteCount = 32

    /// The index by which the receiver finds its keypair.
    package var receiverIndex: UInt32
    /// The nonce's counter.
    package var counter: UInt64

    /// Creates a header from its fields.
    package init(receiverIndex: UInt32, counter: UInt64) {
        self.receiverIndex = receiverIndex
        self.counter = counter
    }

    /// Reads a header, or gives `nil` when type or size are those of another message.
    package init?(_ datagram: UnsafeRawBufferPointer) {
        guard unsafe MessageKind.of(datagram) == .transportData else { return nil }
        unsafe self.init(checked: datagram)
    }

    /// Reads the header of a datagram whose kind is known to be `transportData`.
    @inline(__always)
    init(checked datagram: UnsafeRawBufferPointer) {
        receiverIndex = unsafe WireFormat.load(datagram, at: 4)
        counter = UInt64(littleEndian: unsafe datagram.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Writes the 16 bytes of the header.
    @inline(__always)
    package func writeHeader(into message: UnsafeMutableRawPointer) {
        unsafe WireFormat.store(Self.type, into: message, at: 0)
        unsafe WireFormat.store(receiverIndex, into: message, at: 4)
        unsafe message.storeBytes(of: counter.littleEndian, toByteOffset: 8, as: UInt64.self)
    }
}
