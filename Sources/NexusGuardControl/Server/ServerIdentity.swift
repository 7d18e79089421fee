// SPDX-License-Identifier: MIT

package import AgentCore
package import AgentHTTP
package import FoundationEssentials
internal import Glibc
internal import NexusGuard

/// Where the server's certificate comes from.
package enum ServerIdentity {
    /// The development certificate in the state directory; clients that trust it trust the server.
    package static let certificateName = "development-cert.pem"
    /// Its key.
    package static let keyName = "development-key.pem"
    /// When it was made, in seconds since 1970, and behind that the names that it is for, one a line.
    static let namesName = "development-names"

    /// A development certificate is valid for 365 days; a server that starts makes a new one this long before.
    private static let renewalAge: TimeInterval = 335 * 86_400

    /// The largest file that is read, in bytes.
    private static let largestFile = 1 << 20

    /// Reads a certificate and its key.
    ///
    /// - Throws: `ServeError.failed` with the file that cannot be read.
    package static func load(certificate: String, key: String) throws(ServeError) -> TLSIdentity {
        guard let certificateBytes = SmallFile.read(certificate, limit: largestFile) else {
            throw .failed("\(certificate) cannot be read")
        }
        guard var keyBytes = SmallFile.read(key, limit: largestFile) else {
            throw .failed("\(key) cannot be read")
        }
        defer { keyBytes.erase() }
        return TLSIdentity(
            certificatePEM: String(decoding: certificateBytes, as: UTF8.self), keyPEM: keyBytes)
    }

    /// The development certificate of a state directory: the one that is there if it is for these names and not
    /// about to expire, else a new one.
    ///
    /// - Throws: `ServeError`.
    package static func development(
        in directory: String, names: [String], now: Date, log: any LogSink
    ) throws(ServeError) -> TLSIdentity {
        let certificate = "\(directory)/\(certificateName)"
        let key = "\(directory)/\(keyName)"
        let record = "\(directory)/\(namesName)"
        let wanted = Set(names)
        if let known = SmallFile.read(record, limit: largestFile) {
            let lines = String(decoding: known, as: UTF8.self).split(separator: "\n").map(String.init)
            let madeAt = lines.first.flatMap { TimeInterval($0) } ?? 0
            let age = now.timeIntervalSince1970 - madeAt
            if Set(lines.dropFirst()) == wanted, (0...renewalAge).contains(age),
                let identity = try? load(certificate: certificate, key: key)
            {
                return identity
            }
            log.add(
                level: .warn, tag: "tls",
                message: "a new development certificate is made; clients must trust the new one")
        }
        let identity = try make(names)
        // The record comes last: without it the files before it are made anew.
        unlink(record)
        try write(Array(identity.certificatePEM.utf8), to: certificate)
        var keyBytes = identity.withKeyPEM { Array($0) }
        defer { keyBytes.erase() }
        try write(keyBytes, to: key)
        let lines = ["\(Int(now.timeIntervalSince1970))"] + wanted.sorted()
        try write(Array((lines.joined(separator: "\n") + "\n").utf8), to: record)
        return identity
    }

    /// Copies a certificate to where clients find it.
    ///
    /// - Throws: `ServeError.failed`.
    package static func export(_ identity: TLSIdentity, to path: String) throws(ServeError) {
        try write(Array(identity.certificatePEM.utf8), to: path, mode: 0o644)
    }

    private static func make(_ names: [String]) throws(ServeError) -> TLSIdentity {
        let addresses = names.filter { (try? IPAddress($0)) != nil }
        do {
            return try DevelopmentCertificate.make(
                hostNames: names.filter { !addresses.contains($0) }, addresses: addresses)
        } catch {
            throw .http(error)
        }
    }

    private static func write(
        _ bytes: [UInt8], to path: String, mode: mode_t = 0o600
    ) throws(ServeError) {
        let number = SmallFile.write(bytes, to: path, mode: mode)
        guard number == 0 else { throw .failed("\(path): \(String(cString: strerror(number)))") }
    }
}
