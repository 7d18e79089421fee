// SPDX-License-Identifier: MIT

/// 32 bytes that two peers share besides their key pairs, erased from memory with their last owner.
///
/// Copies share one block of memory. Neither printing nor reflecting shows the key.
public struct PresharedKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The owner of the bytes.
    private final class Storage: Sendable {
        let key: SecretKey

        init(_ key: consuming SecretKey) {
            self.key = key
        }
    }

    private let storage: Storage

    /// Draws a new key from the operating system.
    public init() {
        self.init(SecretKey(randomFrom: SystemRandomSource()))
    }

    /// Reads the base64 form that `wg genpsk` prints.
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

    /// Copies 32 bytes.
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

    /// Takes ownership of a secret.
    package init(_ key: consuming SecretKey) {
        storage = Storage(key)
    }

    /// Whether all bytes are zero: to the protocol, the same as no preshared key.
    package var isZero: Bool { storage.key.isZero }

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

    /// Says that this is a preshared key and no more.
    public var description: String { "PresharedKey(hidden)" }

    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Compares in constant time.
    public func isEqual(to other: PresharedKey) -> Bool { storage.key.isEqual(to: other.storage.key) }
}
