// SPDX-License-Identifier: MIT

internal import CSodium

/// Access to libsodium, which must be initialised before its first use.
enum Sodium {
    private static let ready: Bool = sodium_init() >= 0

    /// Initialises libsodium once.
    static func initialize() {
        guard ready else {
            preconditionFailure("libsodium could not be initialised: the system has no random source")
        }
    }

    /// A buffer's address in the type that libsodium asks for; an empty buffer may have none, and is not read.
    static func bytes(_ buffer: UnsafeRawBufferPointer) -> UnsafePointer<UInt8> {
        (buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 64).unsafelyUnwrapped)
            .assumingMemoryBound(to: UInt8.self)
    }

    /// A buffer's address in the type that libsodium asks for; an empty buffer may have none, and is not written.
    static func bytes(_ buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutablePointer<UInt8> {
        (buffer.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 64).unsafelyUnwrapped)
            .assumingMemoryBound(to: UInt8.self)
    }

    /// Bytes from the system's random source.
    static func random(_ count: Int) -> [UInt8] {
        initialize()
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { randombytes_buf(Self.bytes($0), $0.count) }
        return bytes
    }
}
