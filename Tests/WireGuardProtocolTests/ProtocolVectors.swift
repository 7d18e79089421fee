// SPDX-License-Identifier: MIT

import Harness
import Synchronization
import Testing
import WireGuardCrypto
import WireGuardProtocol

extension HexBytes {
    /// The bytes as a public key.
    func publicKey() throws -> PublicKey { try PublicKey(rawRepresentation: bytes) }

    /// The bytes as this host's identity.
    func identity() throws -> LocalIdentity {
        LocalIdentity(try PrivateKey(rawRepresentation: bytes.span.bytes))
    }

    /// The bytes as a preshared key, or `nil` when they are all zero.
    func presharedKey() throws -> PresharedKey? {
        bytes.allSatisfy { $0 == 0 } ? nil : try PresharedKey(rawRepresentation: bytes.span.bytes)
    }
}

extension SecretKey {
    /// The secret of 32 bytes.
    init(_ bytes: [UInt8]) {
        self.init(copying: bytes.span.bytes)
    }

    /// A copy of the bytes, for comparison.
    var array: [UInt8] { withBytes { span in span.withUnsafeBytes { Array($0) } } }
}

extension TAI64N {
    /// The timestamp of 12 bytes.
    init(_ bytes: [UInt8]) {
        self.init(rawBytes: bytes.span.bytes)
    }

    /// A copy of the bytes, for comparison.
    var array: [UInt8] { withBytes { span in span.withUnsafeBytes { Array($0) } } }
}

/// A random source that gives the bytes of a script and traps when they run out.
final class ScriptedRandomSource: RandomSource {
    private let rest: Mutex<ArraySlice<UInt8>>

    /// Gives these bytes, in this order.
    init(_ bytes: [UInt8]) {
        rest = Mutex(bytes[...])
    }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        rest.withLock { rest in
            precondition(rest.count >= buffer.count, "the script is too short")
            buffer.copyBytes(from: rest.prefix(buffer.count))
            rest = rest.dropFirst(buffer.count)
        }
    }
}

/// Lets `body` write so many bytes and gives them with its result.
func written<Result: ~Copyable>(
    _ bytes: inout [UInt8], _ body: (UnsafeMutableRawPointer) -> Result
) -> Result {
    var span = bytes.mutableSpan
    var output = span.mutableBytes
    return output.withUnsafeMutableBytes { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("the buffer is empty") }
        return body(start)
    }
}

/// Calls `body` with the bytes of an array as a datagram.
func datagram<Result: ~Copyable>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.span.bytes.withUnsafeBytes { body($0) }
}

extension Instant {
    /// So many seconds after the origin.
    static func seconds(_ count: Double) -> Instant { Instant(nanoseconds: Int64(count * 1_000_000_000)) }
}

/// `#expect` for conditions that the macro cannot take apart: those on values that cannot be copied.
func check(_ isTrue: Bool, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(isTrue, comment, sourceLocation: sourceLocation)
}
