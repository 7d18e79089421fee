// SPDX-License-Identifier: MIT

/// A Curve25519 public key: who a peer is.
public struct PublicKey: Hashable, Sendable, CustomStringConvertible {
    /// The key in memory order, eight bytes a word; words make comparison and hashing cheap.
    private let word0: UInt64
    private let word1: UInt64
    private let word2: UInt64
    private let word3: UInt64

    /// Copies 32 bytes.
    ///
    /// - Throws: `KeyError.wrongByteCount` for any other size.
    public init(rawRepresentation bytes: RawSpan) throws(KeyError) {
        guard bytes.byteCount == 32 else { throw .wrongByteCount(bytes.byteCount) }
        self.init(unchecked: bytes)
    }

    /// Copies 32 bytes.
    ///
    /// - Throws: `KeyError.wrongByteCount` for any other size.
    public init(rawRepresentation bytes: [UInt8]) throws(KeyError) {
        try unsafe self.init(rawRepresentation: bytes.span.bytes)
    }

    /// Reads the base64 form that `wg` prints.
    ///
    /// - Throws: `KeyError.notBase64`.
    public init(base64 text: String) throws(KeyError) {
        self = try KeyText.key(base64: text).withBytes { PublicKey(unchecked: $0) }
    }

    /// Reads 64 hexadecimal digits, the form of the cross-platform userspace interface.
    ///
    /// - Throws: `KeyError.notHexadecimal`.
    public init(hexadecimal text: String) throws(KeyError) {
        self = try KeyText.key(hexadecimal: text).withBytes { PublicKey(unchecked: $0) }
    }

    /// Reads the base64 form out of a buffer.
    package init(base64Bytes text: RawSpan) throws(KeyError) {
        self = try KeyText.key(base64: text).withBytes { PublicKey(unchecked: $0) }
    }

    /// Reads the hexadecimal form out of a buffer.
    package init(hexadecimalBytes text: RawSpan) throws(KeyError) {
        self = try KeyText.key(hexadecimal: text).withBytes { PublicKey(unchecked: $0) }
    }

    /// Copies the first 32 bytes of `bytes`, which must have that many.
    package init(unchecked bytes: RawSpan) {
        precondition(bytes.byteCount >= 32, "a public key has 32 bytes")
        word0 = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)
        word1 = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)
        word2 = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 16, as: UInt64.self)
        word3 = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 24, as: UInt64.self)
    }

    /// The 44 base64 characters.
    public var base64: String { withBytes { KeyText.base64($0) } }

    /// The 64 lowercase hexadecimal digits.
    public var hexadecimal: String { withBytes { KeyText.hexadecimal($0) } }

    /// The base64 form.
    public var description: String { base64 }

    /// Calls `body` with the 32 bytes.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let words: [4 of UInt64] = [word0, word1, word2, word3]
        return try unsafe body(words.span.bytes)
    }
}
