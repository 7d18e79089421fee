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
        key = keyPEM.withUnsafeBytes { KeyText($0) }
    }

    /// Creates an identity whose key is copied from elsewhere.
    init(certificatePEM: String, key: UnsafeRawBufferPointer) {
        self.certificatePEM = certificatePEM
        self.key = KeyText(key)
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

        init(_ text: UnsafeRawBufferPointer) {
            bytes = .allocate(byteCount: text.count + 1, alignment: 1)
            bytes.copyMemory(from: text)
            bytes[text.count] = 0
        }

        deinit {
            gnutls_memset(bytes.baseAddress, 0, bytes.count)
            bytes.deallocate()
        }
    }
}

extension TLSIdentity {
    /// Checks that the texts can be read and that the key is the certificate's.
    func check() throws(HTTPServerError) {
        var credentials: gnutls_certificate_credentials_t?
        guard gnutls_certificate_allocate_credentials(&credentials) == 0 else { throw .tls("no memory") }
        defer { gnutls_certificate_free_credentials(credentials) }
        let code = Array(certificatePEM.utf8).withUnsafeBytes { certificate in
            withKeyPEM { key in
                var certificateDatum = Self.datum(certificate)
                var keyDatum = Self.datum(key)
                return gnutls_certificate_set_x509_key_mem2(
                    credentials, &certificateDatum, &keyDatum, GNUTLS_X509_FMT_PEM, nil, 0)
            }
        }
        guard code >= 0 else { throw .tls(String(cString: gnutls_strerror(code))) }
    }

    private static func datum(_ bytes: UnsafeRawBufferPointer) -> gnutls_datum_t {
        let start = bytes.bindMemory(to: UInt8.self).baseAddress
        return gnutls_datum_t(data: UnsafeMutablePointer(mutating: start), size: UInt32(bytes.count))
    }
}
