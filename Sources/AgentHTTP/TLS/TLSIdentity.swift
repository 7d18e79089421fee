// SPDX-License-Identifier: MIT

internal import CGnuTLS

/// A server's certificate and its private key.
///
/// The key is erased when the last copy of the value goes, and printing shows nothing of it.
public struct TLSIdentity: Sendable, CustomStringConvertible, CustomReflectable {
    /// The certificate in PEM, followed by those that sign it, if any.
    public let certificatePEM: String
    private let key: KeyText

    /// Creates an identity from texts in PEM; a server checks that they fit when it starts.
    public init(certificatePEM: String, keyPEM: [UInt8]) {
        self.certificatePEM = certificatePEM
        key = KeyText(keyPEM)
    }

    /// Calls a function with the private key in PEM, without a zero byte at its end.
    public func withKeyPEM<Result: ~Copyable>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: key.bytes.baseAddress, count: key.bytes.count - 1))
    }

    /// The private key in PEM with a zero byte at its end; valid as long as the identity lives.
    var keyText: UnsafePointer<CChar>? {
        UnsafePointer(key.bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
    }

    /// Shows nothing of the key.
    public var description: String { "TLSIdentity" }

    /// Shows nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The memory of the key, erased at the end. The bytes never change, so threads may share them.
    private final class KeyText: @unchecked Sendable {
        let bytes: UnsafeMutableRawBufferPointer

        init(_ text: [UInt8]) {
            bytes = .allocate(byteCount: text.count + 1, alignment: 1)
            bytes.copyBytes(from: text)
            bytes[text.count] = 0
        }

        deinit {
            gnutls_memset(bytes.baseAddress, 0, bytes.count)
            bytes.deallocate()
        }
    }
}
