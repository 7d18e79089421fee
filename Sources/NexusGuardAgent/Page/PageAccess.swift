// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import AgentStore

/// The settings of the page with the files that they name.
struct PageAccess: Sendable {
    /// The settings.
    let settings: PageSettings
    /// The certificate and its key.
    let identity: TLSIdentity?
    /// Changes with the files of certificate and key.
    let identityStamp: String?
    /// The password.
    let password: PagePassword?

    /// Reads the files.
    ///
    /// - Throws: `AgentError.configInvalid` with the setting that cannot be used.
    init(loading settings: PageSettings) throws(AgentError) {
        try settings.check()
        self.settings = settings
        if let certificateFile = settings.certificateFile, let keyFile = settings.keyFile {
            let certificate = try PageFileAccess.read(
                certificateFile, field: "ui_certificate", isSecret: false, limit: Self.longestPEM)
            var key = try PageFileAccess.read(keyFile, field: "ui_key", limit: Self.longestPEM)
            defer { key.bytes.erase() }
            identity = TLSIdentity(
                certificatePEM: String(decoding: certificate.bytes, as: UTF8.self), keyPEM: key.bytes)
            identityStamp = "\(certificate.stamp) \(key.stamp)"
        } else {
            identity = nil
            identityStamp = nil
        }
        password = if let file = settings.passwordFile { try PagePassword(contentsOf: file) } else { nil }
    }

    private static let longestPEM = 262_144
}
