// SPDX-License-Identifier: MIT

internal import CGnuTLS
internal import Glibc

/// Makes certificates that no authority signs, for development and for small installations.
///
/// A client trusts such a certificate when it is given as its file of further authorities.
public enum DevelopmentCertificate {
    /// Makes a key of ECDSA over P-256 and a certificate for it, signed by itself and valid for a year.
    ///
    /// Nothing is written to a file.
    ///
    /// - Parameters:
    ///   - hostNames: Names of DNS that the certificate is for, in ASCII; `*.` may stand before one.
    ///   - addresses: Numeric addresses that it is for.
    public static func make(
        hostNames: [String], addresses: [String]
    ) throws(HTTPServerError) -> TLSIdentity {
        guard let commonName = hostNames.first ?? addresses.first else {
            throw .tls("a certificate needs a name or an address")
        }
        var key: gnutls_x509_privkey_t?
        try check(gnutls_x509_privkey_init(&key))
        defer { gnutls_x509_privkey_deinit(key) }
        try check(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, ng_gnutls_p256_bits, 0))
        var certificate: gnutls_x509_crt_t?
        try check(gnutls_x509_crt_init(&certificate))
        defer { gnutls_x509_crt_deinit(certificate) }
        for name in hostNames { try add(hostName: name, to: certificate) }
        for address in addresses { try add(address: address, to: certificate) }
        try describe(certificate, commonName: commonName)
        try check(gnutls_x509_crt_set_key(certificate, key))
        try check(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0))
        let text = try export {
            gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, $0)
        } use: { bytes in
            String(decoding: bytes, as: UTF8.self)
        }
        return try export {
            gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, $0)
        } use: { bytes in
            TLSIdentity(certificatePEM: text, key: bytes)
        }
    }

    private static func describe(
        _ certificate: gnutls_x509_crt_t?, commonName: String
    ) throws(HTTPServerError) {
        try check(gnutls_x509_crt_set_version(certificate, 3))
        var serial = [UInt8](repeating: 0, count: 16)
        try check(gnutls_rnd(GNUTLS_RND_NONCE, &serial, serial.count))
        // Positive, and without a leading zero byte (RFC 5280, section 4.1.2.2).
        serial[0] = serial[0] & 0x7f | 0x40
        try check(gnutls_x509_crt_set_serial(certificate, serial, serial.count))
        let now = time(nil)
        // Clocks of clients may be a little behind.
        try check(gnutls_x509_crt_set_activation_time(certificate, now - 3600))
        try check(gnutls_x509_crt_set_expiration_time(certificate, now + 365 * 86_400))
        let name = String(commonName.prefix(64))
        try check(
            gnutls_x509_crt_set_dn_by_oid(
                certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name, UInt32(name.utf8.count)))
        try check(gnutls_x509_crt_set_basic_constraints(certificate, 0, -1))
        try check(gnutls_x509_crt_set_key_usage(certificate, UInt32(GNUTLS_KEY_DIGITAL_SIGNATURE)))
        try check(gnutls_x509_crt_set_key_purpose_oid(certificate, GNUTLS_KP_TLS_WWW_SERVER, 0))
    }

    private static func add(
        hostName: String, to certificate: gnutls_x509_crt_t?
    ) throws(HTTPServerError) {
        let isName =
            !hostName.isEmpty && hostName.utf8.count <= 253
            && hostName.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                    UInt8(ascii: "*"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
        guard isName else { throw .tls("\(hostName): not a name of a host") }
        let kind = GNUTLS_SAN_DNSNAME
        try check(
            gnutls_x509_crt_set_subject_alt_name(
                certificate, kind, hostName, UInt32(hostName.utf8.count), UInt32(GNUTLS_FSAN_APPEND)))
    }

    private static func add(
        address: String, to certificate: gnutls_x509_crt_t?
    ) throws(HTTPServerError) {
        var bytes = [UInt8](repeating: 0, count: 16)
        let size: UInt32
        if inet_pton(AF_INET, address, &bytes) == 1 {
            size = 4
        } else if inet_pton(AF_INET6, address, &bytes) == 1 {
            size = 16
        } else {
            throw .invalidAddress(address)
        }
        try check(
            gnutls_x509_crt_set_subject_alt_name(
                certificate, GNUTLS_SAN_IPADDRESS, bytes, size, UInt32(GNUTLS_FSAN_APPEND)))
    }

    /// Has GnuTLS write something, and erases its memory after use.
    private static func export<Result>(
        _ write: (UnsafeMutablePointer<gnutls_datum_t>) -> Int32, use: (UnsafeRawBufferPointer) -> Result
    ) throws(HTTPServerError) -> Result {
        var datum = gnutls_datum_t()
        try check(write(&datum))
        defer {
            gnutls_memset(datum.data, 0, Int(datum.size))
            ng_gnutls_free(datum.data)
        }
        return use(UnsafeRawBufferPointer(start: datum.data, count: Int(datum.size)))
    }

    private static func check(_ code: Int32) throws(HTTPServerError) {
        guard code >= 0 else { throw .tls(String(cString: gnutls_strerror(code))) }
    }
}
