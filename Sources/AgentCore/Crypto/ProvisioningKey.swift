// SPDX-License-Identifier: MIT

internal import CSodium

/// The key K that a device and the control server share: SHA-256 over the token and the hardware identifier.
///
/// It opens the answer to a provisioning request, and later proves who asks. The agent stores it in place of the
/// token. Copies share one block of memory, which is erased with its last owner. Neither printing nor reflecting
/// shows the key.
public struct ProvisioningKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The number of bytes of a key.
    public static let byteCount = 32

    let bytes: SecretBytes

    /// Derives the key: SHA-256 over the UTF-8 of `token` and behind it the UTF-8 of `hwid`.
    public init(token: String, hwid: String) {
        bytes = SHA256.secretDigest { state in
            state.update(token)
            state.update(hwid)
        }
    }

    /// Copies 32 bytes.
    ///
    /// - Throws: `AgentError.configInvalid` for another number of bytes, or when all of them are zero.
    public init(rawRepresentation: RawSpan) throws(AgentError) {
        guard rawRepresentation.byteCount == Self.byteCount else {
            throw .configInvalid(field: "key", reason: "has \(rawRepresentation.byteCount) bytes, not 32")
        }
        bytes = SecretBytes(copying: rawRepresentation)
        guard !bytes.isZero else { throw .configInvalid(field: "key", reason: "is all zero") }
    }

    /// Copies 32 bytes.
    ///
    /// - Throws: `AgentError.configInvalid` for another number of bytes, or when all of them are zero.
    public init(rawRepresentation: [UInt8]) throws(AgentError) {
        try self.init(rawRepresentation: rawRepresentation.span.bytes)
    }

    /// Takes a block of 32 bytes.
    init(_ bytes: SecretBytes) {
        precondition(bytes.count == Self.byteCount, "a key has 32 bytes")
        self.bytes = bytes
    }

    /// Calls `body` with the 32 bytes.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withBytes(body)
    }

    /// Compares in constant time.
    public func isEqual(to other: ProvisioningKey) -> Bool {
        bytes.withUnsafeBytes { mine in
            other.bytes.withUnsafeBytes { sodium_memcmp(mine.baseAddress, $0.baseAddress, mine.count) == 0 }
        }
    }

    /// Says that this is a provisioning key and no more.
    public var description: String { "ProvisioningKey(hidden)" }

    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
