// SPDX-License-Identifier: MIT

/// A buffer's address in the type that libsodium asks for; an empty buffer may have none, and is not read.
@inline(__always)
func bytes(_ buffer: UnsafeRawBufferPointer) -> UnsafePointer<UInt8> {
    unsafe (buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 64).unsafelyUnwrapped)
        .assumingMemoryBound(to: UInt8.self)
}

/// A buffer's address in the type that libsodium asks for; an empty buffer may have none, and is not written.
@inline(__always)
func bytes(_ buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutablePointer<UInt8> {
    unsafe (buffer.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 64).unsafelyUnwrapped)
        .assumingMemoryBound(to: UInt8.self)
}

/// The address of a secret's bytes in the type that libsodium asks for.
@inline(__always)
func bytes(_ key: borrowing SecretKey) -> UnsafeMutablePointer<UInt8> {
    unsafe key.pointer.assumingMemoryBound(to: UInt8.self)
}
