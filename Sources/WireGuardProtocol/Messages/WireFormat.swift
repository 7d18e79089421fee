// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

/// Reading and writing of the fixed fields of messages; all numbers are little-endian.
///
/// Callers check sizes first: every offset here lies inside a buffer whose size is that of its message.
enum WireFormat {
    /// The 32-bit number at an offset.
    @inline(__always)
    static func load(_ datagram: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        UInt32(littleEndian: unsafe datagram.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// Writes a 32-bit number.
    @inline(__always)
    static func store(_ value: UInt32, into message: UnsafeMutableRawPointer, at offset: Int) {
        unsafe message.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
    }

    /// The public key at an offset.
    static func publicKey(_ datagram: UnsafeRawBufferPointer, at offset: Int) -> PublicKey {
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: datagram[offset..<(offset + 32)])
        return unsafe PublicKey(unchecked: RawSpan(_unsafeBytes: bytes))
    }

    /// Writes a public key.
    static func store(_ key: PublicKey, into message: UnsafeMutableRawPointer, at offset: Int) {
        key.withBytes { unsafe store($0, into: message, at: offset) }
    }

    /// Writes bytes.
    static func store(_ bytes: RawSpan, into message: UnsafeMutableRawPointer, at offset: Int) {
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe (message + offset).copyMemory(from: start, byteCount: source.count)
        }
    }
}
