// SPDX-License-Identifier: MIT

/// A Curve25519 private key, erased from memory with its last owner.
///
/// Copies share one block of memory. Neither printing nor reflecting shows the key.
public struct PrivateKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The owner of the bytes.
    private final class Storage: Sendable {
        let key: SecretKey
        let publicKey: PublicKey

        init(_ key: consuming SecretKey) {
            X25519.clamp(&key)
            publicKey = X25519.publicKey(of: key)
            self.key = key
        }
    }

    private let storage: Storage

    /// Draws a new key from the operating system.
    public init() {
        self.init(SecretKey(randomFrom: SystemRandomSource()))
    }

    /// Reads the base64 form that `wg genkey` prints.
    ///
    /// - Throws: `KeyError.notBase64`, without any part of the text.
    public init(base64 text: String) throws(KeyError) {
        self.init(try KeyText.key(base64: text))
    }

    /// Reads 64 hexadecimal digits, the form of the cross-platform userspace interface.
    ///
    /// - Throws: `KeyError.notHexadecimal`, without any part of the text.
    public init(hexadecimal text: String) throws(KeyError) {
        self.init(try KeyText.key(hexadecimal: text))
    }

    /// Copies 32 bytes and clamps them as RFC 7748 asks.
    ///
    /// - Throws: `KeyError.wrongByteCount` for any other size.
    public init(rawRepresentation bytes: RawSpan) throws(KeyError) {
        guard bytes.byteCount == SecretKey.byteCount else { throw .wrongByteCount(bytes.byteCount) }
        self.init(SecretKey(copying: bytes))
    }

    /// Reads the base64 form out of a buffer, so that no `String` keeps a copy.
    package init(base64Bytes text: RawSpan) throws(KeyError) {
        self.init(try KeyText.key(base64: text))
    }

    /// Reads the hexadecimal form out of a buffer, so that no `String` keeps a copy.
    package init(hexadecimalBytes text: RawSpan) throws(KeyError) {
        self.init(try KeyText.key(hexadecimal: text))
    }

    /// Takes ownership of a secret and clamps it as RFC 7748 asks.
    package init(_ key: consuming SecretKey) {
        storage = Storage(key)
    }

    /// The public key that belongs to this key.
    public var publicKey: PublicKey { storage.publicKey }

    /// The 44 base64 characters of the key itself, for a configuration that must hold it.
    public var base64: String { withSecret { $0.withBytes { KeyText.base64($0) } } }

    /// The 64 hexadecimal digits of the key itself.
    package var hexadecimal: String { withSecret { $0.withBytes { KeyText.hexadecimal($0) } } }

    /// Calls `body` with the 32 bytes of the key, for a store or a protocol that must hold them.
    ///
    /// Nothing is copied. The span must not be kept beyond the call, and whoever copies the bytes has to erase the
    /// copy; `base64` makes a `String`, which nobody can erase.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.key.withBytes(body)
    }

    /// Calls `body` with the secret.
    package func withSecret<Result: ~Copyable, Failure: Error>(
        _ body: (borrowing SecretKey) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(storage.key)
    }

    /// Says that this is a private key and no more.
    public var description: String { "PrivateKey(hidden)" }

    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Compares in constant time.
    public func isEqual(to other: PrivateKey) -> Bool { storage.key.isEqual(to: other.storage.key) }
}
